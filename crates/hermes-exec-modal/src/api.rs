//! The service that apps, images and sandboxes are asked from.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hermes_exec::environment::StartFailure;
use hermes_net::{BaseUrl, Client};
use prost::Message;
use serde::Deserialize;
use tonic::metadata::MetadataMap;
use tonic::{Code, Status};

use crate::channel::Channel;
use crate::options::Options;
use crate::proto::{
    AppGetOrCreateRequest, AppGetOrCreateResponse, AuthTokenGetResponse, ClientHelloResponse, Empty,
};
use crate::rpc::{self, Method, Tries, failure, insert};

/// Where the service is, and where else.
const SERVER: &str = "https://api.modal.com";
const OTHER_SERVER: &str = "https://api.modal2.com";
/// The setting that replaces both.
const SETTING: &str = "MODAL_SERVER_URL";
/// The version of the protocol that is spoken, by the provider's own client.
const CLIENT_VERSION: &str = "1.3.4";
/// The app that sandboxes belong to.
const APP: &str = "hermes-agent";
/// How long a token of authorisation is good for if it doesn't say.
const TOKEN_LIFE: Duration = Duration::from_secs(10 * 60);

const HELLO: Method = Method::new("/modal.client.ModalClient/ClientHello", 30);
const APP_GET: Method = Method::new("/modal.client.ModalClient/AppGetOrCreate", 30);
const AUTH_TOKEN: Method = Method::new("/modal.client.ModalClient/AuthTokenGet", 30);

/// The service, as one of its users sees it.
pub(crate) struct Api {
    net: Client,
    channel: Channel,
    is_own: bool,
    metadata: MetadataMap,
    token: tokio::sync::Mutex<Option<Token>>,
}

/// What newer calls want to see beside the credentials.
struct Token {
    text: String,
    refresh_at: Instant,
}

impl Api {
    pub(crate) fn new(net: &Client, options: &Options) -> Result<Self, StartFailure> {
        let address = |default| {
            BaseUrl::new(SETTING, default, options.server_url.as_deref())
                .map_err(|err| StartFailure::new(err.to_string()))
        };
        let mut addresses = vec![address(SERVER)?];
        let is_own = addresses.iter().any(BaseUrl::is_configured);
        if !is_own {
            addresses.push(address(OTHER_SERVER)?);
        }
        let mut metadata = MetadataMap::new();
        insert(&mut metadata, "x-modal-client-version", CLIENT_VERSION);
        insert(&mut metadata, "x-modal-client-type", "1");
        insert(&mut metadata, "x-modal-token-id", options.credentials.token_id.trim());
        insert(&mut metadata, "x-modal-token-secret", options.credentials.token_secret.trim());
        for value in metadata.iter_mut() {
            if let tonic::metadata::KeyAndMutValueRef::Ascii(key, value) = value {
                value.set_sensitive(key.as_str() == "x-modal-token-secret");
            }
        }
        let channel = Channel::new(net.clone(), addresses);
        Ok(Self {
            net: net.clone(),
            channel,
            is_own,
            metadata,
            token: tokio::sync::Mutex::default(),
        })
    }

    /// A connection to a worker. Workers of the provider are on the internet; those of a server
    /// that the user configured are where that says.
    pub(crate) fn worker(&self, url: &str) -> Result<Channel, Status> {
        let address = BaseUrl::new("a worker's address", url, self.is_own.then_some(url));
        let address = address.map_err(|err| Status::internal(err.to_string()))?;
        Ok(Channel::new(self.net.clone(), vec![address]))
    }

    pub(crate) fn channel(&self) -> &Channel {
        &self.channel
    }

    pub(crate) fn metadata(&self) -> &MetadataMap {
        &self.metadata
    }

    /// Asks until it goes well. The same key tells the service that it is the same wish.
    pub(crate) async fn call<Q, A>(&self, method: Method, message: Q) -> Result<A, Status>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        self.call_with(method, self.metadata.clone(), message).await
    }

    async fn call_with<Q, A>(
        &self,
        method: Method,
        mut metadata: MetadataMap,
        message: Q,
    ) -> Result<A, Status>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        insert(&mut metadata, "x-idempotency-key", &new_uuid());
        let mut tries = Tries::of_service();
        loop {
            insert(&mut metadata, "x-retry-attempt", &tries.made().to_string());
            match rpc::unary(&self.channel, method, &metadata, message.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(status) => tries.again(status).await?,
            }
        }
    }

    /// As [`Self::call`], for the newer calls about sandboxes, with the sandbox's own token if it
    /// has one.
    pub(crate) async fn call_authorized<Q, A>(
        &self,
        method: Method,
        message: Q,
        sandbox_token: &str,
    ) -> Result<A, Status>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let mut is_new = false;
        loop {
            let mut metadata = self.metadata.clone();
            insert(&mut metadata, "x-modal-auth-token", &self.token(is_new).await?);
            if !sandbox_token.is_empty() {
                insert(&mut metadata, "x-modal-sandbox-token", sandbox_token);
            }
            match self.call_with(method, metadata, message.clone()).await {
                Err(status) if status.code() == Code::Unauthenticated && !is_new => is_new = true,
                result => return result,
            }
        }
    }

    /// The token, from the service where it is old or should be new.
    async fn token(&self, is_new: bool) -> Result<String, Status> {
        let mut slot = self.token.lock().await;
        if let Some(token) = slot.as_ref().filter(|it| !is_new && Instant::now() < it.refresh_at) {
            return Ok(token.text.clone());
        }
        let answer: AuthTokenGetResponse = self.call(AUTH_TOKEN, Empty {}).await?;
        let life = remaining_life(&answer.token).unwrap_or(TOKEN_LIFE);
        let refresh_at = Instant::now() + life / 2;
        *slot = Some(Token { text: answer.token.clone(), refresh_at });
        Ok(answer.token)
    }

    /// Greets the service. The answer is the version of its builder of images.
    pub(crate) async fn hello(&self) -> Result<String, StartFailure> {
        let answer: ClientHelloResponse =
            self.call(HELLO, Empty {}).await.map_err(|err| failure("connecting to Modal", &err))?;
        if !answer.warning.is_empty() {
            tracing::warn!(warning = %answer.warning, "Modal");
        }
        Ok(answer.image_builder_version)
    }

    /// The id of the app that sandboxes belong to. It is made if it isn't there.
    pub(crate) async fn app(&self, environment: Option<&str>) -> Result<String, StartFailure> {
        let request = AppGetOrCreateRequest {
            app_name: APP.to_owned(),
            environment_name: environment.unwrap_or_default().to_owned(),
            object_creation_type: 1,
        };
        let answer: AppGetOrCreateResponse =
            self.call(APP_GET, request).await.map_err(|err| failure("asking for the app", &err))?;
        Ok(answer.app_id)
    }
}

/// How long a token that says when it ends is still good for.
fn remaining_life(token: &str) -> Option<Duration> {
    #[derive(Deserialize)]
    struct Claims {
        exp: u64,
    }
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?.trim_end_matches('=')).ok()?;
    let claims: Claims = serde_json::from_slice(&claims).ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(Duration::from_secs(claims.exp).saturating_sub(now).min(Duration::from_secs(24 * 3600)))
}

/// A name that nobody else has.
pub(crate) fn new_uuid() -> String {
    let bits = fastrand::u128(..) & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    let part = |range: std::ops::Range<usize>| hex.get(range).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", part(0..8), part(8..12), part(12..16), part(16..20), part(20..32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_look_like_uuids() {
        let uuid = new_uuid();
        assert_ne!(uuid, new_uuid());
        let digit = |at: usize| uuid.as_bytes()[at];
        assert_eq!((uuid.len(), digit(14)), (36, b'4'), "{uuid}");
        assert!(b"89ab".contains(&digit(19)), "{uuid}");
    }

    #[test]
    fn tokens_say_how_long_they_live() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let token =
            |exp: u64| format!("h.{}.s", URL_SAFE_NO_PAD.encode(format!(r#"{{"exp":{exp}}}"#)));
        let life = remaining_life(&token(now + 600)).unwrap();
        assert!(life <= Duration::from_secs(600) && life > Duration::from_secs(500));
        assert_eq!(remaining_life(&token(5)), Some(Duration::ZERO));
        assert_eq!(remaining_life("opaque"), None);
    }
}
