//! The names of operations in events.

use crate::support::{Failed, Flaky, run_in_a_process};
use async_trait::async_trait;
use retry_core::drive::{Next, Operation, Settled};
use retry_core::retry::retry_blocking_with_context;
use retry_core::{
    AttemptContext, Event, Observer, RetryDirective, StandardRetryStrategy, retry, retry_blocking, retry_with_context,
    retryable,
};
use std::borrow::Cow;
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

/// A closure of each form, called by code that is generic.
async fn closures<T: Debug + Clone>(value: T) -> [&'static str; 4] {
    let use_it = || assert!(!format!("{value:?}").is_empty());
    let in_time = || async {
        use_it();
        Ok::<_, Failed>(())
    };
    let at_once = || {
        use_it();
        Ok::<_, Failed>(())
    };
    [
        name!(names => retry(&STRATEGY, in_time).observer(&names).run()),
        name!(names => retry_with_context(&STRATEGY, |_: AttemptContext| in_time()).observer(&names).run()),
        name!(names => async { retry_blocking(&STRATEGY, at_once).observer(&names).run() }),
        name!(names => async {
            retry_blocking_with_context(&STRATEGY, |_: AttemptContext| at_once()).observer(&names).run()
        }),
    ]
}

async fn get<T>() -> Outcome {
    assert!(size_of::<T>() < 100);
    Ok(())
}

impl<T: Clone> Store<T> {
    async fn closure<U>(&self, _: U) -> &'static str {
        name!(names => retry(&STRATEGY, async || Ok::<_, Failed>(())).observer(&names).run())
    }
}

trait Closures {
    async fn closure(&self) -> &'static str;
}

impl<T> Closures for Store<Vec<T>> {
    async fn closure(&self) -> &'static str {
        name!(names => retry(&STRATEGY, get::<T>).observer(&names).run());
        name!(names => retry(&STRATEGY, async || get::<T>().await).observer(&names).run())
    }
}

// Rule O7.
#[tokio::test(start_paused = true)]
async fn a_closure_has_the_same_name_for_all_types_of_its_caller() {
    let names = closures(1).await;
    assert_eq!(names, closures("a text").await);
    assert_eq!(names, closures(Some(vec![(1, [2; 3])])).await);
    let module = "observing::names";
    let expected = format!("{module}::closures::{{{{closure}}}}::{{{{closure}}}}");
    assert!(names.iter().all(|name| name.starts_with(&expected)), "{names:?}");
    assert!(names.iter().all(|name| !name.contains(['<', '>'])), "{names:?}");

    let (numbers, texts) = (Store::<u32>(PhantomData), Store::<Option<Vec<&str>>>(PhantomData));
    let name = numbers.closure(1).await;
    assert_eq!((name, name), (numbers.closure("").await, texts.closure([0; 2]).await));
    assert!(name.starts_with(&format!("{module}::Store::closure::")), "{name}");

    let (numbers, texts) = (Store::<Vec<u32>>(PhantomData), Store::<Vec<String>>(PhantomData));
    let name = Closures::closure(&numbers).await;
    assert_eq!(name, Closures::closure(&texts).await);
    assert!(name.starts_with(&format!("<{module}::Store as {module}::Closures>::closure::")), "{name}");
}

// Rule O7.
#[tokio::test(start_paused = true)]
async fn a_function_that_is_passed_in_place_of_a_closure_is_named_without_its_arguments() {
    let (one, other) = (
        name!(names => retry(&STRATEGY, get::<u32>).observer(&names).run()),
        name!(names => retry(&STRATEGY, get::<Vec<&str>>).observer(&names).run()),
    );
    assert_eq!((one, other), ("observing::names::get", "observing::names::get"));
    let pointer: fn() -> std::future::Ready<Result<u8, Failed>> = || std::future::ready(Ok(1));
    let name = name!(names => async { retry(&STRATEGY, pointer).observer(&names).run().await.map(drop) });
    assert_eq!(name, "fn() -> core::future::ready::Ready");
}

// Rule O7.
#[tokio::test(start_paused = true)]
async fn a_given_name_is_kept_as_it_is() {
    let call = |names| retry(&STRATEGY, get::<u8>).name("get<u8>").observer(names);
    assert_eq!(name!(names => call(&names).run()), "get<u8>");
}

// Rule O7.
#[tokio::test(start_paused = true)]
async fn threads_that_ask_for_a_name_at_the_same_time_get_the_same_one() {
    fn name<T>() -> &'static str {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async { name!(names => retry(&STRATEGY, || get::<T>()).observer(&names).run()) })
    }
    let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(|| [name::<u8>(), name::<String>()])).collect();
    let names: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    assert!(names.iter().all(|name| std::ptr::eq(*name, names[0])), "{names:?}");
}

trait Blanket {
    async fn closure(&self) -> &'static str;

    async fn attribute(&self, names: &Names) -> Outcome;
}

impl<T> Blanket for T {
    async fn closure(&self) -> &'static str {
        name!(names => retry(&STRATEGY, async || Ok::<_, Failed>(())).observer(&names).run())
    }

    #[retryable(strategy = STRATEGY, observer = names)]
    async fn attribute(&self, names: &Names) -> Outcome {
        Ok(())
    }
}

// Rule O7.
#[tokio::test(start_paused = true)]
async fn in_an_impl_for_all_types_a_function_has_one_name_and_a_closure_one_for_each_type() {
    let of_function = [name!(names => 1_u8.attribute(&names)), name!(names => Some(1_u8).attribute(&names))];
    assert_eq!(of_function, ["<_ as observing::names::Blanket>::attribute"; 2]);
    let start = "<core::option::Option as observing::names::Blanket>::closure::";
    let of_closure = [Some(1_u8).closure().await, Some("").closure().await, 1_u8.closure().await];
    assert!(of_closure[0].starts_with(start) && of_closure[0] == of_closure[1], "{of_closure:?}");
    assert!(of_closure[2].starts_with("<u8 as observing::names::Blanket>::closure::"), "{of_closure:?}");
}

#[retryable(strategy = STRATEGY, observer = names, name = "get")]
async fn literal(names: &Names) -> Outcome {
    Ok(())
}

#[retryable(strategy = STRATEGY, observer = names, name = format!("get in {region}"))]
async fn formatted(names: &Names, region: &str) -> Outcome {
    Ok(())
}

#[retryable(strategy = STRATEGY, observer = names, name = name, blocking)]
fn given(names: &Names, name: impl Into<Cow<'static, str>>) -> Outcome {
    Ok(())
}

fn by_hand(names: &Names, name: impl Into<Cow<'static, str>>) -> Outcome {
    let mut operation = Operation::builder(&STRATEGY, name).observer(names).begin();
    while let Next::Attempt { .. } = operation.next(std::task::Waker::noop()) {
        operation.sent();
        if let Settled::Done(ended) = operation.settle(RetryDirective::succeed()) {
            return ended.report(Ok(())).outcome;
        }
    }
    Err(Failed::FATAL)
}

fn blocking(names: &Names) -> Outcome {
    retry_blocking(&STRATEGY, || Ok(())).name(String::from("blocking")).observer(names).run()
}

// Rule O23.
#[tokio::test]
async fn a_name_can_be_static_or_owned() {
    assert_eq!(name!(names => literal(&names)), "get");
    let region = String::from("eu");
    let first = name!(names => formatted(&names, &region));
    assert_eq!(first, "get in eu");
    let closure = || retry(&STRATEGY, || std::future::ready(Ok::<_, Failed>(())));
    let second = name!(names => closure().observer(&names).name(format!("get in {region}")).run());
    assert!(std::ptr::eq(first, second), "a text is kept once");
    assert_eq!(name!(names => closure().observer(&names).name(Cow::Borrowed("borrowed")).run()), "borrowed");
    assert_eq!(name!(names => std::future::ready(blocking(&names))), "blocking");
    assert_eq!(name!(names => std::future::ready(given(&names, "static"))), "static");
    assert_eq!(name!(names => std::future::ready(given(&names, region.clone()))), "eu");
    assert_eq!(name!(names => std::future::ready(by_hand(&names, "by hand"))), "by hand");
    assert_eq!(name!(names => std::future::ready(by_hand(&names, region))), "eu");
}

// Rule O23.
#[test]
fn a_test_guard_shows_an_owned_name() {
    let test = retry_core::test::begin();
    retry_blocking(&STRATEGY, || Ok::<_, Failed>(())).name(format!("shard {}", 7)).run().unwrap();
    assert_eq!(test.only().name, "shard 7");
}

// Rule O23.
#[test]
fn at_most_1024_owned_names_are_kept() {
    run_in_a_process("names::many_owned_names", |_| {});
}

#[test]
#[ignore = "runs in a process of its own, because owned names are kept until it ends"]
fn many_owned_names() {
    let call = |name: String| {
        let names = Names::default();
        retry_blocking(&STRATEGY, || Ok::<_, Failed>(())).name(name).observer(&names).run().unwrap();
        names.only()
    };
    for shard in 0..1024 {
        assert_eq!(call(format!("shard {shard}")), format!("shard {shard}"));
    }
    assert_eq!(call("one more".to_owned()), "other");
    assert_eq!(call("shard 0".to_owned()), "shard 0");
}
