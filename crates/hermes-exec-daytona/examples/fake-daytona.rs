//! The server of the tests for other clients: the provider's own one must get on with it, too. It
//! prints its address and ends with its input.

#![expect(clippy::print_stdout, reason = "a program for people")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "it is made for tests")]

#[expect(dead_code, reason = "tests ask it more")]
#[path = "../tests/fake/mod.rs"]
mod fake;

#[tokio::main]
async fn main() {
    let fake = fake::Fake::new().await;
    println!("{}", fake.url);
    tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()))
        .await
        .unwrap()
        .unwrap();
}
