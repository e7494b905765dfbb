//! Decompression that can't be made to swell without end.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use hyper::HeaderMap;
use hyper::header::CONTENT_ENCODING;

use crate::error::{NetError, NetErrorKind};

/// What requests say they accept.
pub(crate) const ACCEPTED: &str = "gzip";

/// How many compressed bytes are read at a time: gzip makes up to a thousand of each.
const STEP: usize = 1024;
/// How many bytes may come of a compressed one, on average,
const MOST_PER_BYTE: u64 = 200;
/// once there are as many as this.
const ALWAYS_FINE: u64 = 1024 * 1024;

/// Reads a body, limited in what comes of it.
#[derive(Debug)]
pub(crate) struct Decoder {
    limit: u64,
    read: u64,
    written: u64,
    gzip: Option<MultiGzDecoder<Vec<u8>>>,
}

impl Decoder {
    /// A decoder for a body with these headers, which may come to `limit` bytes.
    pub(crate) fn new(headers: &HeaderMap, limit: u64) -> Result<Self, NetError> {
        let mut gzip = None;
        for value in headers.get_all(CONTENT_ENCODING) {
            let names = value.to_str().unwrap_or("?").split(',').map(str::trim);
            for name in names.filter(|name| !name.eq_ignore_ascii_case("identity")) {
                let is_gzip = ["gzip", "x-gzip"].iter().any(|it| name.eq_ignore_ascii_case(it));
                if !is_gzip || gzip.is_some() {
                    let message = format!("the body is compressed in a way not asked for: {name}");
                    return Err(NetError::new(NetErrorKind::Protocol, &message));
                }
                gzip = Some(MultiGzDecoder::new(Vec::new()));
            }
        }
        Ok(Self { limit, read: 0, written: 0, gzip })
    }

    /// Whether the bytes come out as they go in.
    pub(crate) const fn is_plain(&self) -> bool {
        self.gzip.is_none()
    }

    /// What comes of the next bytes.
    pub(crate) fn push(&mut self, chunk: Bytes) -> Result<Bytes, NetError> {
        if self.gzip.is_none() {
            self.count(chunk.len(), chunk.len())?;
            return Ok(chunk);
        }
        let mut out = Vec::new();
        for step in chunk.chunks(STEP) {
            let Some(gzip) = &mut self.gzip else { break };
            gzip.write_all(step).map_err(|err| broken(&err))?;
            let plain = std::mem::take(gzip.get_mut());
            self.count(step.len(), plain.len())?;
            out.extend(plain);
        }
        Ok(out.into())
    }

    /// What comes of the end.
    pub(crate) fn finish(&mut self) -> Result<Bytes, NetError> {
        let Some(mut gzip) = self.gzip.take().filter(|_| self.read > 0) else {
            return Ok(Bytes::new());
        };
        gzip.try_finish().map_err(|err| broken(&err))?;
        let plain = std::mem::take(gzip.get_mut());
        self.count(0, plain.len())?;
        Ok(plain.into())
    }

    fn count(&mut self, read: usize, written: usize) -> Result<(), NetError> {
        self.read = self.read.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        self.written = self.written.saturating_add(u64::try_from(written).unwrap_or(u64::MAX));
        let swells =
            self.written > ALWAYS_FINE && self.written > self.read.saturating_mul(MOST_PER_BYTE);
        if self.written > self.limit || swells {
            return Err(too_large(self.limit));
        }
        Ok(())
    }
}

pub(crate) fn too_large(limit: u64) -> NetError {
    let message = format!("the body is too large; at most {limit} bytes are read");
    NetError::new(NetErrorKind::TooLarge(limit), &message)
}

fn broken(err: &io::Error) -> NetError {
    NetError::new(NetErrorKind::Protocol, &format!("the body can't be decompressed: {err}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use hyper::header::HeaderValue;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn gzipped(plain: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn decoder(encoding: &str, limit: u64) -> Result<Decoder, NetError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_str(encoding).unwrap());
        Decoder::new(&headers, limit)
    }

    fn decoded(bytes: &[u8], parts: usize, limit: u64) -> Result<Vec<u8>, NetError> {
        let mut decoder = decoder("gzip", limit)?;
        let mut out = Vec::new();
        for part in bytes.chunks(parts) {
            out.extend(decoder.push(Bytes::copy_from_slice(part))?);
        }
        out.extend(decoder.finish()?);
        Ok(out)
    }

    #[test]
    fn bodies_that_swell_are_given_up() {
        let bomb = gzipped(&vec![0; 4 * 1024 * 1024]);
        let fault = decoded(&bomb, 16 * 1024, u64::MAX).unwrap_err();
        assert_eq!(fault.kind(), &NetErrorKind::TooLarge(u64::MAX));
        let fault = decoded(&gzipped(&[7; 5000]), 16, 4096).unwrap_err();
        assert_eq!(fault.kind(), &NetErrorKind::TooLarge(4096));
        assert_eq!(decoded(&gzipped(&[7; 5000]), 16, 5000).unwrap().len(), 5000);
    }

    #[test]
    fn other_encodings_and_broken_ones() {
        for (encoding, is_read) in [
            ("identity", true),
            ("X-GZIP", true),
            ("br", false),
            ("gzip, gzip", false),
            ("gzip, br", false),
        ] {
            assert_eq!(decoder(encoding, 10).is_ok(), is_read, "{encoding}");
        }
        let whole = gzipped(b"some text that is long enough");
        assert!(decoded(&whole[..whole.len() - 5], 7, 100).is_err());
        assert!(decoded(b"no gzip at all", 7, 100).is_err());
        assert_eq!(decoded(b"", 7, 100).unwrap(), b"");
        let twice = [gzipped(b"a"), gzipped(b"b")].concat();
        assert_eq!(decoded(&twice, 3, 100).unwrap(), b"ab");
    }

    proptest! {
        #[test]
        fn what_was_compressed_comes_back(
            plain in prop::collection::vec(0u8..8, 0..1000),
            parts in 1usize..800,
        ) {
            prop_assert_eq!(decoded(&gzipped(&plain), parts, 5000).unwrap(), plain);
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0];
            gzip.extend(bytes);
            let _ = decoded(&gzip, 11, 1000);
        }
    }
}
