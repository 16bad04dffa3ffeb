//! The constants that differ between an estimate for one sender and one for all senders.

/// The constants that differ between one sender and all senders.
///
/// # Where the values are from
///
/// - `ramp`: a rejection is known after a round trip `r`. Until then, the rate grows to `2^(r / 0.25 s)` times the limit: to
///   1.15 times at 50 ms. The ratio of 3 bounds that if answers take longer than `0.25 s * log2(3)`, 0.4 s.
/// - `search`: 0.8 leaves room for a burst in the goodput, and is made up for in `0.25 s * log2(1 / 0.8)`, 80 ms.
/// - `settles`: senders learn of a cut within their time between two reports, 0.25 s, and report what was rejected before within
///   another one.
/// - `found`: in a search from half of the limit `l`, `0.72 l` are accepted in the first second, and `l` until the rejection is
///   known, 0.7 s later. Their mean is `0.84 l`; 1.25 times that is more than `l`. A server that saves up a second is taken for
///   1.25 times its limit for the next 2 s. With 1.35, it rejects a quarter more in these, and with 1, five processes use 0.7 of a
///   limit without a burst after five seconds.
/// - `cut` is the factor of CUBIC (RFC 9438, 4.6), and `returns` its time K, which is fixed here, so that it does not depend on
///   the rate.
/// - `climb`: the cubic leaves `0.3 * 2 s / 4`, the requests of 0.15 s, unused, which a bucket saves up. A growth by 16 % in a
///   second uses them up within `sqrt(2 * 0.15 / 0.16)`, 1.4 s. So cuts are about 3 s apart, and the whole limit is used.
///   For all senders, the same numbers are 0.06 s and 1.25 s.
/// - `measured`: an error of one request is 6 % of 16.
/// - `lag`: the time by which the queue lets a waiter be late, and a round trip within a continent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tuning {
    /// The time in which the rate of the ramp doubles, in seconds, and its highest ratio to the rate of accepted requests.
    pub(super) ramp: (f64, f64),
    /// Whether the ramp continues after a pause at the highest rate that was accepted.
    pub(super) keeps: bool,
    /// The part of the goodput before the first rejection, which may include a burst, that is the first estimate.
    pub(super) first: f64,
    /// The part of the first estimate at which the search begins, and the time in which its rate doubles, in seconds.
    pub(super) search: (f64, f64),
    /// The time from the start of a search in which rejections are those of requests that were sent before, in seconds.
    pub(super) settles: f64,
    /// The lowest rate that a search returns: this part of what was accepted in its last second, at most this multiple of the goodput in
    /// all of it.
    pub(super) found: Option<(f64, f64)>,
    /// The time in which the rate doubles once the limit has proved to be higher than the estimate, in seconds.
    pub(super) proven: f64,
    /// The part of the estimate to which a rejection cuts the rate.
    pub(super) cut: f64,
    /// The time in which the rate returns from a cut to the estimate, in seconds.
    pub(super) returns: f64,
    /// What makes a measurement: a time in seconds, or a number of accepted requests.
    pub(super) measured: (f64, u32),
    /// The time by which answers may come late or be reported late, in seconds.
    pub(super) lag: f64,
    /// The factor by which the rate grows in each second beyond the estimate.
    pub(super) climb: f64,
}

impl Tuning {
    /// For one sender. A cut frees a part of the limit for others, which makes their shares fair.
    pub(super) const ONE: &'static Self = &Self {
        ramp: (0.25, 3.0),
        keeps: true,
        first: 1.0,
        search: (0.8, 0.25),
        settles: 0.0,
        found: None,
        proven: 0.4,
        cut: 0.7,
        returns: 2.0,
        measured: (0.5, 16),
        lag: 0.05,
        climb: 1.16,
    };
    /// For the sum of many senders, which have shares of it. They report their answers a few times in a second, so a
    /// short measurement would be wrong, and a steep growth would be cut too late.
    pub(super) const ALL: &'static Self = &Self {
        ramp: (0.6, 2.0),
        keeps: false,
        first: 0.5,
        search: (1.0, 1.0),
        settles: 0.5,
        found: Some((0.95, 1.25)),
        proven: 1.0,
        cut: 0.9,
        returns: 2.5,
        measured: (2.0, u32::MAX),
        lag: 0.5,
        climb: 1.08,
    };
}
