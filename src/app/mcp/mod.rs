//! `retrial mcp`: the Model Context Protocol on standard input and output. A tool is a command of this program in a
//! process of its own that has no terminal: it asks nothing, and nothing that a client sends approves anything.
//! Resources are the files of runs.

mod arguments;
mod command_line;
mod process;
mod resources;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResult, Implementation, ListResourceTemplatesResult, ListResourcesResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ResourceTemplate,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _, tool, tool_handler, tool_router,
};
use tokio_util::sync::CancellationToken;

use self::arguments::{
    CheckArguments, CompareArguments, JudgeArguments, ListArguments, LogsArguments, PlanArguments,
    RunArgument, RunsArguments, ShowArguments,
};
use self::process::{execute, refuse};
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::{log, runtime};

const INSTRUCTIONS: &str = "\
Retrial runs published benchmarks in their vendors' containers and judges whether the published figures hold here. \
`result` of an answer is what the command prints. `exit_code`: 0 reproduced or measured, 1 not reproduced or invalid, \
2 wrong arguments or recipe, or an approval is missing, 3 the host failed, 4 a benchmark failed, 5 inconclusive. \
`run` returns the id of a run that continues in the background: follow it by `runs` and `logs`, and `judge` it at its end. \
If an answer has `approval`, nothing was started: show the person its reason and its command, which asks at a terminal. \
No tool approves.";

/// What the library logs of a message that it cannot read. It answers none that is no JSON, as the protocol's other
/// servers do (modelcontextprotocol/rust-sdk#938).
const DROPPED_MESSAGES: &str = "rmcp::transport::async_rw=debug";

/// Serves a client until it closes standard input.
///
/// # Errors
/// Standard input is not a client's.
pub fn serve(global: &GlobalOptions) -> Result<(), Failure> {
    let server = Server { global: global.clone() };
    if let Ok(filter) = DROPPED_MESSAGES.parse() {
        log::start_log(&filter);
    }
    let failed = |error: &dyn std::fmt::Display| Failure::host(format!("cannot serve: {error}"));
    runtime::start_runtime()?.block_on(async {
        let running = server.serve(stdio()).await.map_err(|error| failed(&error))?;
        running.waiting().await.map_err(|error| failed(&error))?;
        Ok(())
    })
}

#[derive(Debug, Clone)]
struct Server {
    global: GlobalOptions,
}

#[tool_router]
impl Server {
    /// List built-in recipes, with their published figures; `fits`: this host has the GPUs
    #[tool(annotations(read_only_hint = true))]
    async fn list(
        &self,
        Parameters(arguments): Parameters<ListArguments>,
        cancelled: CancellationToken,
    ) -> CallToolResult {
        execute(&self.global, arguments.into(), cancelled).await
    }

    /// Show a recipe: published figures, requirements, settings, privileges
    #[tool(annotations(read_only_hint = true))]
    async fn show(
        &self,
        Parameters(arguments): Parameters<ShowArguments>,
        cancelled: CancellationToken,
    ) -> CallToolResult {
        execute(&self.global, arguments.into(), cancelled).await
    }

    /// Report every problem of recipes, templates, batches, sites and rules, with its place and its remedy
    #[tool(annotations(read_only_hint = true))]
    async fn check(
        &self,
        Parameters(arguments): Parameters<CheckArguments>,
        cancelled: CancellationToken,
    ) -> CallToolResult {
        execute(&self.global, arguments.into(), cancelled).await
    }

    /// Return the steps of a run, with the privileges that it needs; changes nothing
    #[tool(annotations(read_only_hint = true))]
    async fn plan(
        &self,
        Parameters(arguments): Parameters<PlanArguments>,
        cancelled: CancellationToken,
    ) -> CallToolResult {
        execute(&self.global, arguments.plan(), cancelled).await
    }

    /// Judge a run, a batch, or a directory with results by its files
    #[tool(annotations(read_only_hint = true))]
    async fn judge(
        &self,
        Parameters(arguments): Parameters<JudgeArguments>,
        cancelled: CancellationToken,
    ) -> CallToolResult {
        execute(&self.global, arguments.into(), cancelled).await
    }

    /// Compare runs or directories with results, and their environments
    #[tool(annotations(read_only_hint = true))]
    async fn compare(
        &self,
        Parameters(arguments): Parameters<CompareArguments>,
        cancelled: CancellationToken,
    ) -> CallToolResult {
        if !arguments.is_complete() {
            return refuse("missing argument: `subjects` (two or more) or `by`");
        }
        execute(&self.global, arguments.into(), cancelled).await
    }

    /// List runs with their outcome, the newest last
    #[tool(annotations(read_only_hint = true))]
    async fn runs(
        &self,
        Parameters(arguments): Parameters<RunsArguments>,
        cancelled: CancellationToken,
    ) -> CallToolResult {
        execute(&self.global, arguments.into(), cancelled).await
    }

    /// Return the end of the output of a run's steps
    #[tool(annotations(read_only_hint = true))]
    async fn logs(
        &self,
        Parameters(arguments): Parameters<LogsArguments>,
        cancelled: CancellationToken,
    ) -> CallToolResult {
        execute(&self.global, arguments.into(), cancelled).await
    }

    /// Start a run in the background and return its id, or the command by which a person approves it
    #[tool]
    async fn run(
        &self,
        Parameters(arguments): Parameters<PlanArguments>,
        cancelled: CancellationToken,
    ) -> CallToolResult {
        execute(&self.global, arguments.run(), cancelled).await
    }

    /// Continue a run or a batch that was interrupted or stopped, in the background; of one that is complete, return the
    /// verdict
    #[tool]
    async fn resume(
        &self,
        Parameters(argument): Parameters<RunArgument>,
        cancelled: CancellationToken,
    ) -> CallToolResult {
        execute(&self.global, argument.resume(), cancelled).await
    }

    /// Stop a run or a batch, and keep its evidence
    #[tool]
    async fn stop(
        &self,
        Parameters(argument): Parameters<RunArgument>,
        cancelled: CancellationToken,
    ) -> CallToolResult {
        execute(&self.global, argument.stop(), cancelled).await
    }
}

#[tool_handler]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("retrial", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        resources::list_runs(&self.global.home, cursor.as_deref())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new(resources::FILE_TEMPLATE, "a file of a run");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read_resource(&self.global.home, &request.uri).map(Into::into)
    }
}
