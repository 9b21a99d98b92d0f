#[tfrt_kernel("my.look")]
fn look(ctx: &ExecutionContext, host: Arc<HostContext>, request: &RequestContext) {}
