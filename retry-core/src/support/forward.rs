//! Wrappers that forward to a value inside.

/// Defines a macro that writes the methods of a trait, each of which calls the same method of another value.
///
/// `forwarding! { $ forward_strategy: RetryStrategy { .. } }` lists the signatures of all methods of the trait that take `&self`. They
/// name other types by absolute paths, because wrappers need not import them. A wrapper then writes only the methods that it changes:
///
/// ```text
/// impl<S: RetryStrategy> RetryStrategy for Wrapper<S> {
///     type Token = S::Token;
///
///     forward_strategy! { self => self.strategy; except name }
///
///     fn name(&self) -> Option<StrategyName> { .. }
/// }
/// ```
///
/// So no wrapper can forget a method, not even one that the trait gets later. A method after `except` that the wrapper does not write
/// has the default of the trait.
///
/// The wrapper passes `self` besides the value, because of macro hygiene. `$d` is the dollar sign of the macro that is defined.
macro_rules! forwarding {
    ($d:tt $(#[$documented:meta])* $forward:ident: $trait:ident {$(
        $(#[$attribute:meta])*
        fn $method:ident(&self $(, $argument:ident: $type:ty)* $(,)?) $(-> $returned:ty)?;
    )+}) => {
        $(#[$documented])*
        macro_rules! $forward {
            ($d self:ident => $d target:expr $d(; except $d($d own:ident),+)?) => {
                $d($d($forward! { is a method: $d own })+)?
                $($forward! { $method, unless among [$d($d($d own)+)?], $d self => $d target })+
            };
            $(
                (is a method: $method) => {};
                ($method, unless among [$method $d($d own:ident)*], $d self:ident => $d target:expr) => {};
                ($method, unless among [], $d self:ident => $d target:expr) => {
                    $(#[$attribute])*
                    fn $method(&$d self $(, $argument: $type)*) $(-> $returned)? {
                        $trait::$method(&$d target $(, $argument)*)
                    }
                };
            )+
            ($d method:ident, unless among [$d other:ident $d($d own:ident)*], $d self:ident => $d target:expr) => {
                $forward! { $d method, unless among [$d($d own)*], $d self => $d target }
            };
        }
    };
}
pub(crate) use forwarding;
