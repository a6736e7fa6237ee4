package registry

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/cli"
)

// unresolvableHelp is the help of --allow-unresolvable.
const unresolvableHelp = "accept names that the registry is not asked for (registry.only), and that nobody can resolve here"

// addPrefix gives cmd the flag --prefix.
func addPrefix(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("prefix", false, "the name is a prefix: what names begin with, such as urn:nbn:fi:")
}

// addTime gives cmd a flag with a time, which parse reads: of a date it is the first or the last moment.
func addTime(cmd *cobra.Command, at *time.Time, name, usage string, parse func(string) (time.Time, error)) {
	cli.Parsed(cmd, at, name, usage, func(text string) (time.Time, error) {
		t, err := parse(text)
		return t.Truncate(time.Millisecond), err
	})
}

// addEncoding gives cmd the flag --encoding.
func addEncoding(cmd *cobra.Command) *charset.Encoding {
	encoding := new(charset.Encoding)
	cli.Parsed(cmd, encoding, "encoding", "the `encoding` of the files, such as windows-1252, latin1 or utf-16le. "+
		"Empty: UTF-8, or what a byte order mark says, or XML declares", charset.Parse)
	cli.Complete(cmd, "encoding", "utf-8", "utf-16le", "utf-16be", "latin1", "windows-1252", "iso-8859-15", "shift_jis")
	return encoding
}

// addTempDir gives cmd the flag --temp-dir.
func addTempDir(cmd *cobra.Command) *string {
	return cmd.Flags().String("temp-dir", "", "the `directory` to sort large files in. Empty: TMPDIR or /tmp")
}
