package problem

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/scheme"
)

// Reason is an error whose text clients get, whatever it is wrapped in: a code for translation, the values of
// its message, as pairs of a name and a text, and an English text. Without a code it has that of the error that
// it wraps.
type Reason struct {
	Code   string
	Values []string
	Text   string
}

func (r *Reason) Error() string { return r.Text }

// disclosed is an error whose full text clients get.
type disclosed struct{ error }

// Disclose returns an error whose full text clients get, such as administrators who queried a server.
func Disclose(err error) error {
	if err == nil {
		return nil
	}
	return disclosed{err}
}

func (s disclosed) Unwrap() []error { return []error{&Reason{Text: s.Error()}, s.error} }

// description is the text of an error for clients: a code for translation, and English text.
type description struct {
	code   string
	values []string // values of the message of the code: pairs of a name and a text
	detail string
	more   string // what detail adds to that message; "" for nothing
}

// describe returns the text of an error for clients. It names the failure without addresses, ports and paths of
// the internal network, which only the log has. No other place decides that.
func describe(err error) description {
	var reason *Reason
	var negative *resolver.Negative
	var refusal *scheme.StatusError
	var denied *policy.Denied
	row := rowOf(err)
	switch {
	case errors.As(err, &reason):
		return row.describe(reason.Code, reason.Values, reason.Text, reason.Text)
	case errors.As(err, &denied):
		return row.describe(row.code, []string{"Rule", denied.Rule}, denied.Error(), "")
	case errors.As(err, &refusal) && (refusal.Local || refusal.Code != ""):
		return row.describe(refusal.Code, refusal.Values, refusal.Error(), refusal.Error())
	case refusal != nil:
		return row.describe(row.code, []string{"Reply", strconv.Quote(refusal.Reply)}, refusal.Error(), "")
	case errors.As(err, &negative):
		return row.describe(negative.Code, negative.Values, negative.Error(), negative.Reason)
	case errors.Is(err, netguard.ErrForbidden):
		code, values := netguard.Code(err)
		return row.describe(code, values, netguard.Public(err), "")
	case !row.internal && !isOfSystem(err):
		return row.describeFully(err)
	case errors.Is(err, scheme.ErrUpstream):
		return row.describe("upstream_refused", nil, scheme.ErrUpstream.Error(), "")
	}
	if t := typeOf(err); t.message != "" &&
		(row.status == http.StatusBadGateway || row.status == http.StatusGatewayTimeout) {
		return row.describe(t.code, nil, t.message, "")
	}
	return row.describeRest(row.phrase(err))
}

// ofRegistry returns the registry error with a code in err, nil for none.
func ofRegistry(err error) (coded *registry.Error) {
	errors.As(err, &coded)
	return coded
}

// describe returns the text for a code; if the code is "", that of the row with more.
func (r *row) describe(code string, values []string, detail, more string) description {
	if code == "" {
		return description{r.code, nil, detail, more}
	}
	return description{code, values, detail, ""}
}

// describeFully returns the text of an error that clients may see unchanged.
func (r *row) describeFully(err error) description {
	if coded := ofRegistry(err); coded != nil && parseOf(err) == nil {
		return r.describe(coded.Code, coded.Values, err.Error(), "")
	}
	return r.describeRest(err.Error())
}

// describeRest returns the code of the row, with what text adds to the error of the row.
func (r *row) describeRest(text string) description {
	more, _ := strings.CutPrefix(text, r.err.Error())
	return description{r.code, nil, text, strings.TrimPrefix(more, ": ")}
}

// phrase returns the text of the error that wraps that of the row directly. Outer wrappers may contain addresses,
// and texts of the operating system are skipped. Of an opaque row it is the text of its error.
func (r *row) phrase(err error) string {
	reported := r.err.Error()
	if r.opaque {
		return reported
	}
	walk(err, func(e error) {
		for _, child := range children(e) {
			if child == r.err && !isOfSystem(e) { //nolint:errorlint // identity is intended
				reported = e.Error()
			}
		}
	})
	return reported
}

// isOfSystem reports whether an error wraps one of a connection, a file or the operating system.
func isOfSystem(err error) bool {
	return has[*net.OpError](err) || has[*net.DNSError](err) || has[*net.AddrError](err) || has[*fs.PathError](err) ||
		has[*os.LinkError](err) || has[*os.SyscallError](err) || has[syscall.Errno](err)
}

// walk calls visit with err and all errors that it wraps.
func walk(err error, visit func(error)) {
	visit(err)
	for _, child := range children(err) {
		walk(child, visit)
	}
}

func children(err error) []error {
	switch e := err.(type) { //nolint:errorlint // walks the chain itself
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	case interface{ Unwrap() error }:
		if child := e.Unwrap(); child != nil {
			return []error{child}
		}
	}
	return nil
}
