//! The names of operations in events.

use crate::support::{Failed, Flaky};
use async_trait::async_trait;
use retry_core::{Event, Observer, StandardRetryStrategy, retryable};
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Mutex;

static STRATEGY: StandardRetryStrategy = StandardRetryStrategy::new();

/// An observer that records the names it gets.
#[derive(Default)]
struct Names {
    asked: Mutex<Vec<&'static str>>,
    observed: Mutex<Vec<&'static str>>,
}

impl Observer for Names {
    fn is_interested(&self, operation: &'static str) -> bool {
        self.asked.lock().unwrap().push(operation);
        true
    }

    fn observe(&self, event: &Event) {
        self.observed.lock().unwrap().push(event.operation);
    }
}

impl Names {
    /// Returns the only name that it got, from `is_interested` and from all events.
    fn only(self) -> &'static str {
        let observed = self.observed.into_inner().unwrap();
        let [asked] = self.asked.into_inner().unwrap().try_into().expect("an operation begins once");
        assert!(!observed.is_empty());
        assert!(observed.iter().all(|name| std::ptr::eq(*name, asked)), "{asked} {observed:?}");
        asked
    }
}

/// Runs an operation with an observer and returns its name.
macro_rules! name {
    ($names:ident => $operation:expr) => {{
        let $names = Names::default();
        $operation.await.unwrap();
        $names.only()
    }};
}

type Outcome = Result<(), Failed>;

struct Client;

struct Store<T>(PhantomData<T>);

trait Service {
    async fn call(&self, names: &Names) -> Outcome;

    #[retryable(strategy = STRATEGY, observer = names)]
    async fn provided(&self, names: &Names) -> Outcome {
        Ok(())
    }
}

impl Client {
    #[retryable(strategy = STRATEGY, observer = names)]
    async fn get(&self, names: &Names) -> Outcome {
        Ok(())
    }

    #[retryable(strategy = STRATEGY, observer = names)]
    async fn r#move(names: &Names) -> Outcome {
        Ok(())
    }

    #[retryable(strategy = STRATEGY, observer = names)]
    async fn generic<T: Debug>(&self, names: &Names, value: T) -> Outcome {
        assert!(!format!("{value:?}").is_empty());
        Ok(())
    }

    #[retryable(strategy = STRATEGY, observer = names)]
    fn tail(&self, names: &Names) -> impl Future<Output = Outcome> {
        async move { Ok(()) }
    }

    #[retryable(strategy = STRATEGY, observer = names, blocking)]
    fn blocking(&self, names: &Names) -> Outcome {
        Ok(())
    }
}

impl<T> Store<T> {
    #[retryable(strategy = STRATEGY, observer = names)]
    async fn get(&self, names: &Names) -> Outcome {
        Ok(())
    }
}

impl Service for Client {
    #[retryable(strategy = STRATEGY, observer = names)]
    async fn call(&self, names: &Names) -> Outcome {
        Ok(())
    }
}

impl<T> Service for Store<Vec<T>> {
    #[retryable(strategy = STRATEGY, observer = names)]
    async fn call(&self, names: &Names) -> Outcome {
        Ok(())
    }
}

impl<T> Service for (T, &str) {
    #[retryable(strategy = STRATEGY, observer = names)]
    async fn call(&self, names: &Names) -> Outcome {
        Ok(())
    }
}

#[async_trait]
trait Boxed {
    async fn call(&self, names: &Names) -> Outcome;
}

#[async_trait]
impl Boxed for Client {
    #[retryable(strategy = STRATEGY, observer = names)]
    async fn call(&self, names: &Names) -> Outcome {
        Ok(())
    }
}

mod elsewhere {
    use super::{Client, Names, Outcome, STRATEGY, retryable};

    impl Client {
        #[retryable(strategy = STRATEGY, observer = names)]
        pub(super) async fn far_away(&self, names: &Names) -> Outcome {
            Ok(())
        }
    }
}

#[retryable(strategy = STRATEGY, observer = names)]
async fn free(names: &Names) -> Outcome {
    Ok(())
}

#[retryable(strategy = STRATEGY, observer = names)]
async fn r#type<T>(names: &Names, _value: T) -> Outcome {
    Ok(())
}

// Rule O7.
#[tokio::test(start_paused = true)]
async fn a_function_is_named_by_its_path() {
    assert_eq!(name!(names => free(&names)), "observing::names::free");
    assert_eq!(name!(names => r#type(&names, 1)), "observing::names::type");
}

// Rule O7.
#[tokio::test(start_paused = true)]
async fn a_method_is_named_by_its_type() {
    let (client, store) = (Client, Store::<u32>(PhantomData));
    assert_eq!(name!(names => client.get(&names)), "observing::names::Client::get");
    assert_eq!(name!(names => store.get(&names)), "observing::names::Store::get");
    assert_eq!(name!(names => client.generic(&names, 1)), "observing::names::Client::generic");
    assert_eq!(name!(names => client.generic(&names, "")), "observing::names::Client::generic");
    assert_eq!(name!(names => Client::r#move(&names)), "observing::names::Client::move");
    assert_eq!(name!(names => client.tail(&names)), "observing::names::Client::tail");
    assert_eq!(name!(names => async { client.blocking(&names) }), "observing::names::Client::blocking");
    assert_eq!(name!(names => client.far_away(&names)), "observing::names::Client::far_away");
}

// Rule O7.
#[tokio::test(start_paused = true)]
async fn a_method_of_a_trait_impl_is_named_by_the_type_and_the_trait() {
    let (client, store) = (Client, Store::<Vec<u32>>(PhantomData));
    let service = "observing::names::Service";
    assert_eq!(
        name!(names => Service::call(&client, &names)),
        format!("<observing::names::Client as {service}>::call")
    );
    assert_eq!(name!(names => Service::call(&store, &names)), format!("<observing::names::Store as {service}>::call"));
    assert_eq!(name!(names => Service::call(&(1, ""), &names)), format!("<(_, &str) as {service}>::call"));
    assert_eq!(name!(names => client.provided(&names)), "observing::names::Service::provided");
    assert_eq!(
        name!(names => Boxed::call(&client, &names)),
        "<observing::names::Client as observing::names::Boxed>::call"
    );
}

#[tokio::test(start_paused = true)]
async fn an_item_inside_a_function_is_named_without_that_function() {
    struct Local;
    impl Local {
        #[retryable(strategy = STRATEGY, observer = names)]
        async fn get(&self, names: &Names) -> Outcome {
            #[retryable(strategy = STRATEGY, observer = inner)]
            async fn get(inner: &Names, flaky: &Flaky) -> Outcome {
                flaky.call().map(drop)
            }

            let inner = name!(inner => get(&inner, &Flaky::new(0, Failed::SAFE)));
            assert_eq!(inner, "observing::names::get");
            Ok(())
        }
    }

    let name = name!(names => Local.get(&names));
    assert!(name.starts_with("observing::names::an_item_inside_a_function"), "{name}");
    assert!(name.ends_with("::Local::get"), "{name}");
}
