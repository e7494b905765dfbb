//! What a host lends to its tools: typed services, found by their trait.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

/// A set of services by type, usually `dyn Trait`.
///
/// The set is built once per host or session and then only read. A derived set
/// ([`with`](Self::with)) shares the services of the one it came from.
#[derive(Clone, Default)]
pub struct Services {
    // Each value is an `Arc<T>` behind `Any`, under the id of `T` itself.
    by_type: Arc<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Services {
    /// No services.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same services and `service` as the one for `T`, in place of an earlier one.
    #[must_use]
    pub fn with<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        Arc::make_mut(&mut self.by_type).insert(TypeId::of::<T>(), Arc::new(service));
        self
    }

    /// The service for `T`, if the host lends one.
    pub fn get<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.by_type.get(&TypeId::of::<T>())?.downcast_ref::<Arc<T>>().cloned()
    }
}

impl std::fmt::Debug for Services {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Services").field("len", &self.by_type.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    trait Greeter: Send + Sync {
        fn greet(&self) -> &'static str;
    }
    struct English;
    impl Greeter for English {
        fn greet(&self) -> &'static str {
            "hello"
        }
    }

    #[test]
    fn a_service_is_found_by_its_trait_only() {
        let services = Services::new().with::<dyn Greeter>(Arc::new(English));
        assert_eq!(services.get::<dyn Greeter>().unwrap().greet(), "hello");
        assert!(services.get::<English>().is_none());
        assert!(Services::new().get::<dyn Greeter>().is_none());
    }
}
