//! Declarations that the linker collects.

use crate::ToolSpec;

/// Every tool declared with [`register!`](crate::register) in a crate that is linked and named by
/// at least one `use`.
///
/// The order is the linker's and differs between profiles; [`linked_specs`] sorts it.
#[linkme::distributed_slice]
pub static TOOLS: [ToolSpec];

/// The linked declarations by name, then by crate.
pub fn linked_specs() -> Vec<&'static ToolSpec> {
    let mut specs: Vec<_> = TOOLS.iter().collect();
    specs.sort_by_key(|spec| (spec.name, spec.origin.crate_name, spec.origin.line));
    specs
}

/// Declares a tool.
///
/// ```
/// use hermes_registry::{Concurrency, ToolContext, ToolOutput, ToolResult, schemars, serde};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// #[serde(crate = "hermes_registry::serde")]
/// #[schemars(crate = "hermes_registry::schemars")]
/// struct Args {
///     /// The text to turn round.
///     text: String,
/// }
///
/// async fn reverse(args: Args, _cx: ToolContext) -> ToolResult {
///     Ok(ToolOutput::Text(args.text.chars().rev().collect()))
/// }
///
/// hermes_registry::register! {
///     name: "reverse_text",
///     toolset: "text",
///     description: "Turns a text round, last character first.",
///     handler: reverse,
///     emoji: "🔁",
///     concurrency: Concurrency::ReadOnly,
/// }
/// # fn main() {
/// assert_eq!(hermes_registry::linked_specs()[0].name, "reverse_text");
/// # }
/// ```
///
/// `name`, `toolset`, `description` and `handler` come first and in this order; the name is one
/// literal, since it becomes a linker symbol. Every other setter of [`ToolSpec`] is an optional
/// key. With `static NAME;` in front (and a visibility, if needed) the declaration gets a name,
/// which [`tools!`](crate::tools) can list.
///
/// Two linked crates that declare one name fail to link, with both named by the linker. Where a
/// linker lets that through, [`Registry::builtin`](crate::Registry::builtin) keeps the first and
/// reports the second.
#[macro_export]
macro_rules! register {
    ($vis:vis static $ident:ident; name: $name:literal, $($rest:tt)*) => {
        #[$crate::__private::linkme::distributed_slice($crate::TOOLS)]
        #[linkme(crate = $crate::__private::linkme)]
        #[doc = concat!("The declaration of `", $name, "`.")]
        $vis static $ident: $crate::ToolSpec = $crate::__spec!(name: $name, $($rest)*);
        $crate::__claim!($name);
    };
    (name: $name:literal, $($rest:tt)*) => {
        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::TOOLS)]
            #[linkme(crate = $crate::__private::linkme)]
            static SPEC: $crate::ToolSpec = $crate::__spec!(name: $name, $($rest)*);
        };
        $crate::__claim!($name);
    };
}

/// Defines `pub fn tools()`, which names every declaration of a crate.
///
/// Linked programs find tools through [`TOOLS`]; a program that is linked from a static library
/// by a foreign linker needs this explicit path.
///
/// ```standalone_crate
/// # use hermes_registry::{ToolContext, ToolOutput, ToolResult, schemars, serde};
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # #[serde(crate = "hermes_registry::serde")]
/// # #[schemars(crate = "hermes_registry::schemars")]
/// # struct Args {}
/// # fn ping(_: Args, _: ToolContext) -> ToolResult { Ok(ToolOutput::from("pong")) }
/// hermes_registry::register! {
///     pub static PING;
///     name: "ping",
///     toolset: "net",
///     description: "Answers pong.",
///     handler: ping,
/// }
///
/// hermes_registry::tools![PING];
/// # fn main() {
/// assert_eq!(tools()[0].name, "ping");
/// # }
/// ```
#[macro_export]
macro_rules! tools {
    ($($path:path),* $(,)?) => {
        /// The tools of this crate.
        pub fn tools() -> &'static [&'static $crate::ToolSpec] {
            static ALL: &[&$crate::ToolSpec] = &[$(&$path),*];
            ALL
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __spec {
    (
        name: $name:literal,
        toolset: $toolset:literal,
        description: $description:expr,
        handler: $handler:expr
        $(, $key:ident: $value:expr)* $(,)?
    ) => {
        $crate::ToolSpec::__new(
            $name,
            $toolset,
            $description,
            || $crate::__private::handler_schema($handler),
            |args, cx| $crate::__private::start_handler($handler, args, cx),
            $crate::Origin {
                crate_name: ::core::env!("CARGO_PKG_NAME"),
                file: ::core::file!(),
                line: ::core::line!(),
            },
        )
        $(.$key($value))*
    };
}

/// Claims a name at link time, twice: thin LTO hides a duplicate static from the linker, and some
/// linkers take a duplicate label. No setup that was tried lets both through but one (mold with
/// thin LTO).
#[doc(hidden)]
#[macro_export]
macro_rules! __claim {
    ($name:literal) => {
        const _: () = {
            #[used]
            #[unsafe(export_name = ::core::concat!("__hermes_tool_s__", $name))]
            static CLAIM: u8 = 0;
        };
        #[cfg(all(
            not(miri),
            target_os = "linux",
            any(target_arch = "x86_64", target_arch = "aarch64")
        ))]
        ::core::arch::global_asm!(
            ::core::concat!(".globl __hermes_tool__", $name),
            ::core::concat!("__hermes_tool__", $name, ":"),
        );
    };
}
