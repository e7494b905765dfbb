//! The standard variables, read from settings.

use std::time::Duration;

use hermes_registry::Settings;
use opentelemetry::KeyValue;
use opentelemetry_sdk::trace::Sampler;
use ureq::http::{HeaderName, HeaderValue, Uri};

use crate::error::OtelError;
use crate::pairs;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
/// A variable for traces alone and the one for everything that it beats.
const HEADERS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];
const TIMEOUT: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];
const PROTOCOL: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
const SAMPLER: &str = "OTEL_TRACES_SAMPLER";
const SAMPLER_ARG: &str = "OTEL_TRACES_SAMPLER_ARG";
const RESOURCE: &str = "OTEL_RESOURCE_ATTRIBUTES";
const SERVICE_NAME: &str = "OTEL_SERVICE_NAME";
const DISABLED: &str = "OTEL_SDK_DISABLED";
const EXPORTER: &str = "OTEL_TRACES_EXPORTER";

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Where spans go, and what goes with them.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) endpoint: Uri,
    /// Marked as sensitive: they may be keys.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// For one request.
    pub(crate) timeout: Duration,
    pub(crate) sampler: Sampler,
    /// What is said about the service besides its name.
    pub(crate) attributes: Vec<KeyValue>,
    pub(crate) service: String,
}

impl Config {
    /// Reads the variables; none when spans are to stay here.
    pub(crate) fn from_settings(settings: &Settings) -> Result<Option<Self>, OtelError> {
        let is = |variable, word| {
            let value = settings.env(variable).map(str::trim);
            value.is_some_and(|value| value.eq_ignore_ascii_case(word))
        };
        if is(DISABLED, "true") || is(EXPORTER, "none") {
            return Ok(None);
        }
        let Some(endpoint) = endpoint(settings)? else { return Ok(None) };
        if let Some((variable, protocol)) = first(settings, PROTOCOL)
            && protocol != "http/protobuf"
        {
            return Err(OtelError::new(variable, "only http/protobuf is spoken here"));
        }
        let mut attributes = pairs::parse(settings.env(RESOURCE).unwrap_or_default())
            .ok_or(OtelError::new(RESOURCE, "is no list of name=value"))?;
        let named = settings.env_filled(SERVICE_NAME).map(str::to_owned);
        let service = named.or_else(|| {
            let (_, name) = attributes.iter().rfind(|(name, _)| name == "service.name")?;
            Some(name.clone())
        });
        attributes.retain(|(name, _)| name != "service.name");
        Ok(Some(Self {
            endpoint,
            headers: headers(settings)?,
            timeout: timeout(settings)?,
            sampler: sampler(settings)?,
            attributes: attributes.into_iter().map(|(k, v)| KeyValue::new(k, v)).collect(),
            service: service.unwrap_or_else(|| "hermes".to_owned()),
        }))
    }
}

/// The first of the variables that is set to something.
fn first<'s>(
    settings: &'s Settings,
    variables: [&'static str; 2],
) -> Option<(&'static str, &'s str)> {
    variables.into_iter().find_map(|name| Some((name, settings.env_filled(name)?.trim())))
}

fn endpoint(settings: &Settings) -> Result<Option<Uri>, OtelError> {
    let Some((variable, address)) = first(settings, [TRACES_ENDPOINT, ENDPOINT]) else {
        return Ok(None);
    };
    let fault = || OtelError::new(variable, "is no address that begins with http:// or https://");
    let uri: Uri = address.parse().map_err(|_| fault())?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
        return Err(fault());
    }
    if variable == TRACES_ENDPOINT {
        return Ok(Some(uri));
    }
    let mut parts = uri.into_parts();
    let path = parts.path_and_query.as_ref();
    let mut whole = path.map_or("", |it| it.path()).trim_end_matches('/').to_owned() + "/v1/traces";
    if let Some(query) = path.and_then(|it| it.query()) {
        whole = whole + "?" + query;
    }
    parts.path_and_query = Some(whole.parse().map_err(|_| fault())?);
    Uri::from_parts(parts).map(Some).map_err(|_| fault())
}

fn headers(settings: &Settings) -> Result<Vec<(HeaderName, HeaderValue)>, OtelError> {
    let Some((variable, list)) = first(settings, HEADERS) else { return Ok(Vec::new()) };
    let fault = || OtelError::new(variable, "is no list of name=value that can be headers");
    let pairs = pairs::parse(list).ok_or_else(fault)?;
    pairs
        .iter()
        .map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| fault())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| fault())?;
            value.set_sensitive(true);
            Ok((name, value))
        })
        .collect()
}

fn timeout(settings: &Settings) -> Result<Duration, OtelError> {
    let Some((variable, text)) = first(settings, TIMEOUT) else { return Ok(DEFAULT_TIMEOUT) };
    match text.parse() {
        Ok(0) | Err(_) => Err(OtelError::new(variable, "is no number of milliseconds")),
        Ok(millis) => Ok(Duration::from_millis(millis)),
    }
}

fn sampler(settings: &Settings) -> Result<Sampler, OtelError> {
    let name = settings.env_filled(SAMPLER).map_or("parentbased_always_on", str::trim);
    let (root, by_parent) = match name.strip_prefix("parentbased_") {
        Some(root) => (root, true),
        None => (name, false),
    };
    let sampler = match root {
        "always_on" => Sampler::AlwaysOn,
        "always_off" => Sampler::AlwaysOff,
        "traceidratio" => Sampler::TraceIdRatioBased(ratio(settings)?),
        _ => return Err(OtelError::new(SAMPLER, "is no sampler that is known here")),
    };
    Ok(if by_parent { Sampler::ParentBased(Box::new(sampler)) } else { sampler })
}

fn ratio(settings: &Settings) -> Result<f64, OtelError> {
    let Some(text) = settings.env_filled(SAMPLER_ARG) else { return Ok(1.0) };
    let ratio = text.trim().parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
    ratio.ok_or(OtelError::new(SAMPLER_ARG, "is no number from 0 to 1"))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read(env: &[(&str, &str)]) -> Result<Option<Config>, OtelError> {
        Config::from_settings(&Settings::default().with_env(env.iter().copied()))
    }

    fn read_with(env: &[(&str, &str)]) -> Config {
        let mut all = vec![(ENDPOINT, "http://localhost:4318")];
        all.extend(env);
        read(&all).unwrap().unwrap()
    }

    #[test]
    fn nothing_is_exported_unless_asked_for() {
        for env in [
            &[] as &[(&str, &str)],
            &[(ENDPOINT, " ")],
            &[(SERVICE_NAME, "x"), (SAMPLER, "nonsense")],
            &[(ENDPOINT, "http://localhost"), (DISABLED, "True")],
            &[(ENDPOINT, "http://localhost"), (EXPORTER, "none")],
        ] {
            assert!(read(env).unwrap().is_none(), "{env:?}");
        }
    }

    #[test]
    fn the_endpoint_of_all_signals_gets_a_path() {
        for (variable, address, expected) in [
            (ENDPOINT, "http://localhost:4318", "http://localhost:4318/v1/traces"),
            (ENDPOINT, "https://o.example/otlp/", "https://o.example/otlp/v1/traces"),
            (ENDPOINT, "http://[::1]:4318/?k=v", "http://[::1]:4318/v1/traces?k=v"),
            (TRACES_ENDPOINT, "http://localhost:4318", "http://localhost:4318/"),
            (TRACES_ENDPOINT, "http://localhost/t", "http://localhost/t"),
        ] {
            let config = read(&[(variable, address)]).unwrap().unwrap();
            assert_eq!(config.endpoint.to_string(), expected, "{address}");
        }
        let both = [(ENDPOINT, "http://a"), (TRACES_ENDPOINT, "http://b/t")];
        assert_eq!(read(&both).unwrap().unwrap().endpoint, "http://b/t");
    }

    #[test]
    fn faults_name_the_variable_and_not_its_value() {
        for (variable, value) in [
            (ENDPOINT, "localhost:4318"),
            (ENDPOINT, "ftp://secret@host"),
            (TRACES_ENDPOINT, "grpc://secret"),
            (TRACES_ENDPOINT, "http://"),
            (HEADERS[0], "secret"),
            (HEADERS[1], "a b=secret"),
            (HEADERS[1], "a=secret%0Ab"),
            (TIMEOUT[0], "secret"),
            (TIMEOUT[1], "0"),
            (PROTOCOL[1], "grpc"),
            (SAMPLER, "jaeger_remote"),
            (RESOURCE, "secret"),
        ] {
            let error = read(&[(ENDPOINT, "http://localhost"), (variable, value)]).unwrap_err();
            assert_eq!(error.variable(), variable, "{value}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        let env = [(ENDPOINT, "http://localhost"), (SAMPLER, "traceidratio"), (SAMPLER_ARG, "2")];
        assert_eq!(read(&env).unwrap_err().variable(), SAMPLER_ARG);
    }

    #[test]
    fn variables_for_traces_win() {
        let config = read_with(&[
            (HEADERS[0], "authorization=Bearer%20secret"),
            (HEADERS[1], "authorization=other"),
            (TIMEOUT[0], "250"),
            (TIMEOUT[1], "9000"),
        ]);
        assert_eq!(config.timeout, Duration::from_millis(250));
        assert_eq!(
            config.headers,
            [("authorization".parse().unwrap(), "Bearer secret".parse().unwrap())]
        );
        assert!(!format!("{config:?}").contains("secret"), "headers may be keys");
        assert_eq!(read_with(&[]).timeout, DEFAULT_TIMEOUT);
    }

    #[test]
    fn a_service_has_a_name() {
        let of = |env: &[(&str, &str)]| read_with(env).service;
        assert_eq!(of(&[]), "hermes");
        assert_eq!(of(&[(RESOURCE, "service.name=a,b=c")]), "a");
        assert_eq!(of(&[(RESOURCE, "service.name=a"), (SERVICE_NAME, "d")]), "d");
        let attributes = read_with(&[(RESOURCE, "service.name=a,b=c%20d")]).attributes;
        assert_eq!(attributes, [KeyValue::new("b", "c d")]);
    }

    #[test]
    fn samplers_go_by_their_standard_names() {
        for (name, argument, sampler) in [
            ("always_on", "", "AlwaysOn"),
            ("parentbased_always_off", "", "ParentBased(AlwaysOff)"),
            ("traceidratio", "0.25", "TraceIdRatioBased(0.25)"),
            ("parentbased_traceidratio", "", "ParentBased(TraceIdRatioBased(1.0))"),
            ("", "", "ParentBased(AlwaysOn)"),
        ] {
            let config = read_with(&[(SAMPLER, name), (SAMPLER_ARG, argument)]);
            assert_eq!(format!("{:?}", config.sampler), sampler);
        }
    }
}
