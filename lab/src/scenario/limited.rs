//! Requests over a network to a server with a limit.

use super::{millis, seconds};
use crate::World;
use crate::call::{Call, Reported};
use crate::servers::Limit;
use crate::world::Network;
use retry_core::time::{Clock, Timer};
use std::rc::Rc;
use std::time::Duration;

/// A server with a limit, as its clients see it.
pub(super) struct Limited<L: ?Sized> {
    network: Network,
    world: World,
    /// Called for each request that arrives, with whether it is rejected.
    on_request: Box<dyn Fn(bool)>,
    limit: Rc<L>,
}

impl<L: Limit + ?Sized + 'static> Limited<L> {
    /// Creates the server. A message to it or from it takes half of the round trip on average, with `deviation` as a
    /// part of that.
    pub(super) fn new(
        world: &World,
        limit: Rc<L>,
        (round_trip_ms, deviation): (f64, f64),
        seed: u64,
        on_request: impl Fn(bool) + 'static,
    ) -> Rc<Self> {
        // A request that takes no time would let workers go round for ever without time passing.
        let message = millis(round_trip_ms.max(1.0)) / 2;
        let network = Network::new(world, message, seconds(message.as_secs_f64() * deviation), seed);
        Rc::new(Self { network, world: world.clone(), on_request: Box::new(on_request), limit })
    }

    /// Creates a call of the server.
    pub(super) fn call(self: &Rc<Self>) -> Call {
        let server = Rc::clone(self);
        let reported = Reported::default();
        let reports = reported.clone();
        let call = Call::new(&self.world, move || {
            let (server, reports) = (Rc::clone(&server), reports.clone());
            async move {
                server.network.message().await;
                let admitted = server.limit.admit(server.world.now());
                (server.on_request)(admitted.is_err());
                let report = server.limit.report();
                let service = if admitted.is_ok() { server.limit.service() } else { Duration::ZERO };
                if !service.is_zero() {
                    server.world.sleep(service).await;
                }
                server.network.message().await;
                reports.set(report);
                admitted
            }
        });
        Call { reported, ..call }
    }
}
