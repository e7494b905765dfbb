#[cfg(test)] mod x {}
