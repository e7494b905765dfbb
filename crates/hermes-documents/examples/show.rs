//! Shows the text of documents: `cargo run --all-features --example show -- FILE..`.
fn main() {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).unwrap();
        match hermes_documents::extract(&path, &bytes, Default::default()) {
            None => println!("{path}: no document"),
            Some(Err(err)) => println!("{path}: {err}"),
            Some(Ok(document)) => println!("{path}:\n{}\n{:?}", document.text, document.omitted),
        }
    }
}
