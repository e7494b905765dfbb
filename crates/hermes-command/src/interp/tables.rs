//! Calls by what they do.

use super::Language;

/// Calls that delete a tree.
pub(super) const TREES: [&str; 26] = [
    "rmtree",
    "remove_tree",
    "rm_rf",
    "rm_r",
    "remove_dir",
    "remove_entry",
    "remove_entry_secure",
    "rimraf",
    "rimrafSync",
    "rimraf.sync",
    "removeSync",
    "emptyDirSync",
    "fs.remove",
    "fse.remove",
    "deltree",
    "rmdir_p",
    "remove_dir_all",
    "File::Path::rmtree",
    "emptyDir",
    "removeDirectory",
    "deleteDirectory",
    "rmdirs",
    "del.sync",
    "deleteSync",
    "trash.sync",
    "rm_rf!",
];

/// Calls that delete a tree if they are told to.
pub(super) const TREES_IF: [&str; 9] = [
    "rmSync",
    "rm",
    "rmdirSync",
    "rmdir",
    "remove",
    "removeSync",
    "Deno.removeSync",
    "unlink",
    "delete",
];

/// Calls that delete a file.
pub(super) const FILES: [&str; 18] = [
    "os.remove",
    "os.unlink",
    "os.rmdir",
    "unlink",
    "unlinkSync",
    "fs.unlink",
    "File.delete",
    "File.unlink",
    "FileUtils.rm",
    "FileUtils.rm_f",
    "os.removedirs",
    "removefile",
    "os.remove",
    "Deno.removeSync",
    "rm_f",
    "fs.rmSync",
    "Deno.remove",
    "fs.rm",
];

/// Calls that run a program.
pub(super) const RUNS: [&str; 60] = [
    "System.cmd",
    "System.shell",
    "os.system",
    "os.popen",
    "subprocess.run",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.Popen",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "Popen",
    "check_output",
    "check_call",
    "os.execv",
    "os.execl",
    "os.execvp",
    "os.execlp",
    "os.execve",
    "os.execvpe",
    "os.spawnl",
    "os.spawnv",
    "os.spawnlp",
    "os.spawnvp",
    "os.posix_spawn",
    "pty.spawn",
    "commands.getoutput",
    "system",
    "exec",
    "execSync",
    "spawn",
    "spawnSync",
    "execFile",
    "execFileSync",
    "child_process.exec",
    "shell_exec",
    "passthru",
    "popen",
    "proc_open",
    "pcntl_exec",
    "os.execute",
    "io.popen",
    "IO.popen",
    "Open3.capture2",
    "Open3.capture3",
    "Open3.popen3",
    "Process.spawn",
    "Kernel.system",
    "Kernel.exec",
    "Bun.spawn",
    "Bun.spawnSync",
    "Deno.run",
    "Deno.Command",
    "getoutput",
    "getstatusoutput",
    "asyncio.create_subprocess_shell",
    "asyncio.create_subprocess_exec",
    "create_subprocess_shell",
    "do shell script",
    "execa",
];

/// Calls that write the file that they are given first.
pub(super) const WRITES: [&str; 16] = [
    "writeFileSync",
    "writeFile",
    "appendFileSync",
    "appendFile",
    "createWriteStream",
    "file_put_contents",
    "File.write",
    "IO.write",
    "Bun.write",
    "Deno.writeTextFileSync",
    "Deno.writeTextFile",
    "Deno.writeFileSync",
    "outputFileSync",
    "truncateSync",
    "os.truncate",
    "IO.binwrite",
];

/// Calls that write the file that they are given second.
pub(super) const COPIES: [&str; 20] = [
    "shutil.copy",
    "shutil.copyfile",
    "shutil.copy2",
    "shutil.move",
    "os.rename",
    "os.replace",
    "os.symlink",
    "os.link",
    "copyFileSync",
    "copyFile",
    "renameSync",
    "FileUtils.cp",
    "FileUtils.mv",
    "FileUtils.copy",
    "File.rename",
    "symlinkSync",
    "cpSync",
    "shutil.copytree",
    "rename",
    "copy",
];

/// Whether `name` is `run` or `call` of a module under another name, or imported by itself.
pub(super) fn runs_as(bare: &str, name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((module, _)) => bare.contains(&format!("subprocess as {module}")),
        None => bare.contains("from subprocess import"),
    }
}

pub(super) fn is_run(language: Language, name: &str, last: &str, bare: &str) -> bool {
    if !(RUNS.contains(&name)
        || RUNS.contains(&last)
        || (language == Language::Python && matches!(last, "run" | "call")))
    {
        return false;
    }
    match last {
        // Of Python `exec` runs Python; a pattern's `exec` matches.
        "exec" => match language {
            Language::Python | Language::Lua => false,
            Language::JavaScript => {
                !name.contains('.')
                    || name.contains("child_process")
                    || name.starts_with("cp.")
                    || name.ends_with(").exec")
                    || name == "exec"
            }
            _ => true,
        },
        "system" | "spawn" | "popen" | "Popen" | "check_output" | "check_call" | "getoutput" => {
            true
        }
        "run" | "call" => {
            name.contains("subprocess")
                || name.contains("Deno")
                || language == Language::Python && runs_as(bare, name)
        }
        _ => true,
    }
}
