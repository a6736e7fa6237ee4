package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/redact"
)

// hinted is an error with what to do next.
type hinted struct {
	error
	hint string
}

// Unwrap returns the error.
func (h *hinted) Unwrap() error { return h.error }

// Hint returns an error that says what to do next, nil for nil: a line of its own below that of the error. The first hint stays.
func Hint(err error, format string, of ...any) error {
	if err == nil || errors.As(err, new(*hinted)) {
		return err
	}
	return &hinted{err, fmt.Sprintf(format, of...)}
}

// hints says what to do after errors of the system, where a command has not said it.
func hints() []struct {
	cause error
	hint  string
} {
	return []struct {
		cause error
		hint  string
	}{
		{fs.ErrNotExist, "look whether the path is right, and its directory there"},
		{fs.ErrPermission, "run the command as a user who may, such as by sudo"},
		{syscall.ENOSPC, "make room on that file system; the same command begins anew"},
		{syscall.EISDIR, "name a file in that directory"},
	}
}

// hintOf returns what to do next after the error of a command, "" where the error says it.
func hintOf(cmd *cobra.Command, err error) string {
	if said := (*hinted)(nil); errors.As(err, &said) {
		return said.hint
	}
	for _, h := range hints() {
		if errors.Is(err, h.cause) {
			return h.hint
		}
	}
	if StatusOf(err) == StatusUsage {
		return cmd.CommandPath() + " --help shows how it is used"
	}
	return ""
}

// Report prints the error of a command and what to do next, and returns the exit status.
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
