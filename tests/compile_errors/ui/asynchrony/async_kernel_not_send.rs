#![allow(unused_variables)]

use tfrt::prelude::*;

async fn local() {
    let shared = std::rc::Rc::new(1);
    std::future::ready(()).await;
    drop(shared);
}

#[tfrt_kernel("my.wait")]
async fn wait() {
    local().await;
}

fn main() {}
