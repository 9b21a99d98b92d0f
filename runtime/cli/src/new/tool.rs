//! The name of this tool in commands for users to copy.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// `tfrt`, if a shell finds this very program under the name; otherwise its path.
pub(super) fn command() -> String {
    let program = env::current_exe().and_then(|path| path.canonicalize());
    match program {
        Ok(program) => command_of(&program, &env::var_os("PATH").unwrap_or_default()),
        Err(_) => "tfrt".to_owned(),
    }
}

fn command_of(program: &Path, search_path: &OsStr) -> String {
    let name = format!("tfrt{}", env::consts::EXE_SUFFIX);
    let found: Option<PathBuf> = env::split_paths(search_path)
        .map(|folder| folder.join(&name))
        .find(|path| path.is_file())
        .and_then(|path| path.canonicalize().ok());
    if found.as_deref() == Some(program) {
        return "tfrt".to_owned();
    }
    quoted(&program.to_string_lossy())
}

/// A word that a shell takes as it is.
fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "/._-+".contains(char);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_a_shell_does_not_find_is_named_by_its_path() {
        let program = Path::new("/builds/release/tfrt");
        let command = command_of(program, OsStr::new("/nowhere"));
        assert_eq!(command, "/builds/release/tfrt");
        let odd = Path::new("/my builds/it's/tfrt");
        assert_eq!(
            command_of(odd, OsStr::new("")),
            r"'/my builds/it'\''s/tfrt'"
        );
    }
}
