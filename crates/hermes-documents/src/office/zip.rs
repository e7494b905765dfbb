//! Archives for tests.

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use std::io::Write;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Method {
    Stored,
    Deflate,
}

#[derive(Default)]
pub(crate) struct Zip {
    out: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
}

impl Zip {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn part(self, name: &str, text: &str) -> Self {
        self.add(name, text.as_bytes(), Method::Deflate)
    }

    pub(crate) fn stored(self, name: &str, bytes: &[u8]) -> Self {
        self.add(name, bytes, Method::Stored)
    }

    pub(crate) fn add(mut self, name: &str, bytes: &[u8], method: Method) -> Self {
        let packed = match method {
            Method::Stored => bytes.to_vec(),
            Method::Deflate => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
        };
        let mut sum = Crc::new();
        sum.update(bytes);
        let start = self.out.len();
        let mut header = Vec::new();
        header.extend_from_slice(&[20, 0, 0, 0, if method == Method::Stored { 0 } else { 8 }, 0]);
        header.extend_from_slice(&[0; 4]);
        for number in [sum.sum() as usize, packed.len(), bytes.len()] {
            header.extend_from_slice(&(number as u32).to_le_bytes());
        }
        header.extend_from_slice(&(name.len() as u16).to_le_bytes());
        header.extend_from_slice(&[0; 2]);
        self.out.extend_from_slice(b"PK\x03\x04");
        self.out.extend_from_slice(&header);
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(&packed);
        self.directory.extend_from_slice(b"PK\x01\x02\x14\x00");
        self.directory.extend_from_slice(&header);
        self.directory.extend_from_slice(&[0; 10]);
        self.directory.extend_from_slice(&(start as u32).to_le_bytes());
        self.directory.extend_from_slice(name.as_bytes());
        self.count += 1;
        self
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        let start = self.out.len() as u32;
        self.out.extend_from_slice(&self.directory);
        self.out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        self.out.extend_from_slice(&self.count.to_le_bytes());
        self.out.extend_from_slice(&self.count.to_le_bytes());
        self.out.extend_from_slice(&(self.directory.len() as u32).to_le_bytes());
        self.out.extend_from_slice(&start.to_le_bytes());
        self.out.extend_from_slice(&[0; 2]);
        self.out
    }
}
