//! Images: built by the provider from a name in a registry.

use std::time::Duration;

use hermes_exec::environment::StartFailure;
use tonic::Status;

use crate::api::Api;
use crate::options::Options;
use crate::proto::{
    GenericResult, Image, ImageFromIdRequest, ImageFromIdResponse, ImageGetOrCreateRequest,
    ImageGetOrCreateResponse, ImageJoinStreamingRequest, ImageJoinStreamingResponse, status,
};
use crate::rpc::{self, Method, Tries, failure};

/// How long one request for news about a build waits, in seconds.
const JOIN: f32 = 55.0;
/// How long a build may take. Big images are pulled at 100 MB/s or so.
const LONGEST_BUILD: Duration = Duration::from_secs(1800);
/// How much of a build's log is shown when it fails, in bytes from the end.
const SHOWN: usize = 2000;

const GET: Method = Method::new("/modal.client.ModalClient/ImageGetOrCreate", 60);
const FROM_ID: Method = Method::new("/modal.client.ModalClient/ImageFromId", 30);
const JOIN_STREAMING: Method = Method::new("/modal.client.ModalClient/ImageJoinStreaming", 30);

/// The id of the image that `options` names, built if nobody built it before.
pub(crate) async fn image(
    api: &Api,
    options: &Options,
    app: &str,
    builder: &str,
) -> Result<String, StartFailure> {
    let what = format!("the image {:?}", options.image);
    if options.image.starts_with("im-") {
        return from_id(api, &options.image).await.map_err(|err| failure(&what, &err));
    }
    // A line break would be another command.
    if options.image.is_empty() || options.image.contains(|c: char| c.is_whitespace()) {
        return Err(StartFailure::new(format!("{what} is no name of an image")));
    }
    let mut commands = vec![format!("FROM {}", options.image)];
    commands.extend(options.build.iter().cloned());
    let request = ImageGetOrCreateRequest {
        image: Some(Image { dockerfile_commands: commands }),
        app_id: app.to_owned(),
        builder_version: builder.to_owned(),
    };
    let answer: ImageGetOrCreateResponse =
        api.call(GET, request).await.map_err(|err| failure(&what, &err))?;
    let mut log = String::new();
    let result = match answer.result.filter(|result| result.status != 0) {
        Some(result) => result,
        None => {
            let building = join(api, &answer.image_id, &mut log);
            match tokio::time::timeout(LONGEST_BUILD, building).await {
                Ok(result) => result.map_err(|err| failure(&what, &err))?,
                Err(_) => return Err(StartFailure::new(format!("{what} isn't built in time"))),
            }
        }
    };
    if result.status == status::SUCCESS {
        return Ok(answer.image_id);
    }
    let mut message = format!("{what} can't be built");
    if !result.exception.is_empty() {
        message = format!("{message}: {}", result.exception);
    }
    if !log.is_empty() {
        message = format!("{message}\n{log}");
    }
    Err(StartFailure::new(message))
}

/// The image of an id, as the service knows it.
async fn from_id(api: &Api, id: &str) -> Result<String, Status> {
    let request = ImageFromIdRequest { image_id: id.to_owned() };
    let answer: ImageFromIdResponse = api.call(FROM_ID, request).await?;
    Ok(if answer.image_id.is_empty() { id.to_owned() } else { answer.image_id })
}

/// Follows a build to its end. What was heard already isn't asked for again after a break.
async fn join(api: &Api, image: &str, log: &mut String) -> Result<GenericResult, Status> {
    let mut last_entry = String::new();
    let mut tries = Tries::of_service();
    loop {
        let request = ImageJoinStreamingRequest {
            image_id: image.to_owned(),
            timeout: JOIN,
            last_entry_id: last_entry.clone(),
            include_logs_for_finished: true,
        };
        let mut heard = false;
        let broken = match rpc::stream(api.channel(), JOIN_STREAMING, api.metadata(), request).await
        {
            Err(status) => status,
            Ok(mut news) => loop {
                let message: Result<Option<ImageJoinStreamingResponse>, Status> =
                    news.message().await;
                match message {
                    Ok(Some(news)) => {
                        heard = true;
                        tries.reset();
                        keep_end(log, news.task_logs.iter().map(|line| line.data.as_str()));
                        if !news.entry_id.is_empty() {
                            last_entry = news.entry_id;
                        }
                        if let Some(result) = news.result.filter(|result| result.status != 0) {
                            return Ok(result);
                        }
                    }
                    // Its time was over. A stream that ends at once without a word is a fault.
                    Ok(None) => break Status::unavailable("the build is not heard of"),
                    Err(status) => break status,
                }
            },
        };
        if !heard {
            tries.again(broken).await?;
        }
    }
}

/// Appends to a text of which only the end is kept.
fn keep_end<'a>(log: &mut String, parts: impl Iterator<Item = &'a str>) {
    log.extend(parts);
    if log.len() > 2 * SHOWN {
        let start = log.ceil_char_boundary(log.len() - SHOWN);
        log.drain(..start);
    }
}
