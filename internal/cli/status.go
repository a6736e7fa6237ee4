// Package cli has what the commands of urnd share: flags that override the configuration, exit statuses,
// input lines, output formats and progress. Command lines and standard input enter, and text, CSV (RFC 4180)
// or JSON (RFC 8259) leaves. The commands are the packages below it, one for each group of commands;
// dependencies on the daemon's wiring are passed to them.
package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/redact"
)

// statusError is an error with an exit status other than 1.
type statusError struct {
	err    error
	status int
}

func (e *statusError) Error() string { return e.err.Error() }

// Unwrap returns the underlying error.
func (e *statusError) Unwrap() error { return e.err }

// StatusOf returns the exit status for an error.
func StatusOf(err error) int {
	var other *statusError
	if errors.As(err, &other) {
		return other.status
	}
	return 1
}

// StatusUsage is the exit status of usage errors.
const StatusUsage = 2

// Usage returns a usage error, which has the exit status StatusUsage; nil for nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return &statusError{err, StatusUsage}
}

// WithUsage makes errors of flags and arguments usage errors that show the syntax, for a command and its
// subcommands.
func WithUsage(cmd *cobra.Command) *cobra.Command {
	if args := cmd.Args; args != nil {
		cmd.Args = func(cmd *cobra.Command, given []string) error {
			if args(cmd, given) == nil {
				return nil
			}
			many := fmt.Sprintf("%d arguments are", len(given))
			if len(given) == 1 {
				many = "1 argument is"
			}
			_, use, _ := strings.Cut(cmd.Use, " ")
			return Usage(fmt.Errorf("%s given: write %s", many, strings.TrimSpace(cmd.CommandPath()+" "+use)))
		}
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return Usage(flagError(cmd, err)) })
	for _, below := range cmd.Commands() {
		WithUsage(below)
	}
	return cmd
}

// ErrReported is the error of a command that has printed its errors already. The exit status is 1.
var ErrReported = errors.New("reported")

// RequireSubcommand runs a group without subcommand: it prints help, but a mistyped subcommand is an error.
func RequireSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && args[0] == "help" { // like the root command
		below, rest, err := cmd.Find(args[1:])
		switch {
		case err != nil:
			args = args[1:]
		case len(rest) == 0:
			return below.Help()
		default:
			cmd, args = below, rest
		}
	}
	if len(args) > 0 {
		cmd.SuggestionsMinimumDistance = 2
		message := fmt.Sprintf("unknown command %q of %q", args[0], cmd.CommandPath())
		similar := cmd.SuggestionsFor(args[0])
		var meant []string // SuggestFor of a command takes precedence over similar names
		for _, below := range cmd.Commands() {
			if slices.Contains(below.SuggestFor, args[0]) {
				meant = append(meant, below.Name())
			}
		}
		if len(meant) > 0 {
			similar = meant
		}
		if len(similar) > 0 {
			message += "; did you mean " + strings.Join(similar, " or ") + "?"
		}
		return Usage(errors.New(message))
	}
	return cmd.Help()
}

// AddGroup adds subcommands under a title in the help.
func AddGroup(cmd *cobra.Command, title string, commands ...*cobra.Command) {
	cmd.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	for _, below := range commands {
		below.GroupID = title
	}
	cmd.AddCommand(commands...)
}

// hinted is an error with a hint.
type hinted struct {
	error
	hint string
}

// Unwrap returns the underlying error.
func (h *hinted) Unwrap() error { return h.error }

// Hint adds a hint for the user to an error, which is printed on a line below it; nil for nil. An existing
// hint is kept.
func Hint(err error, format string, of ...any) error {
	if err == nil || errors.As(err, new(*hinted)) {
		return err
	}
	return &hinted{err, fmt.Sprintf(format, of...)}
}

// hints returns default hints for errors of the operating system.
func hints() []struct {
	cause error
	hint  string
} {
	return []struct {
		cause error
		hint  string
	}{
		{fs.ErrNotExist, "check the path and its directory"},
		{fs.ErrPermission, "run the command as a user with access, such as with sudo"},
		{syscall.ENOSPC, "free space on that file system; the same command starts over"},
		{syscall.EISDIR, "name a file in that directory"},
	}
}

// hintOf returns the hint for the error of a command, "" for none.
func hintOf(cmd *cobra.Command, err error) string {
	if reported := (*hinted)(nil); errors.As(err, &reported) {
		return reported.hint
	}
	for _, h := range hints() {
		if errors.Is(err, h.cause) {
			return h.hint
		}
	}
	if StatusOf(err) == StatusUsage {
		return cmd.CommandPath() + " --help shows the usage"
	}
	return ""
}

// Report prints the error of a command and its hint, and returns the exit status.
func Report(w io.Writer, cmd *cobra.Command, err error) (status int) {
	if err == nil {
		return 0
	}
	if !errors.Is(err, ErrReported) {
		fmt.Fprintln(w, "urnd:", redact.URLs(err.Error()))
	}
	if hint := hintOf(cmd, err); hint != "" {
		fmt.Fprintln(w, "hint:", redact.URLs(hint))
	}
	return StatusOf(err)
}
