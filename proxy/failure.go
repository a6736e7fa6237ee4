package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/urnd/urnd/internal/lifetime"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// denialError returns the error of a request that was not admitted, with the URI that it is about.
func (x *exchange) denialError(err error) error {
	a, u := &x.request, x.request.Target.Query.URI
	switch step := x.verdict.Step; {
	case step == gate.StepRate:
		return err
	case a.Kind == route.KindFetch:
		return x.fetchError(err)
	case a.Kind == route.KindRedirect || a.Retrieves:
		if unknown := resolver.CheckScheme(u); errors.Is(unknown, resolver.ErrService) &&
			!x.handler.config.Names.IsName(u) {
			return x.suggest(problem.WithURI(unknown, u))
		}
		return problem.WithURI(err, u)
	default:
		return err
	}
}

// fetchError adds the requested URI without its password to the error of a request at /fetch. It returns nil for nil.
func (x *exchange) fetchError(err error) error {
	if err == nil {
		return nil
	}
	t := &x.request.Target
	about := &problem.Failure{Err: err, Input: t.Query.URI.WithoutPassword().String(), Fetched: true}
	if about.Typed = about.Input; about.Typed == "" {
		about.Typed = t.Text // the text is no URI
	}
	about.Noun = x.handler.config.Schemes.Noun(about.Input)
	return about
}

// rawName returns the name with raw bytes that a parse error is about.
func rawName(t *route.Target, err error) (string, bool) {
	var parse *uri.ParseError
	if t.Form == route.FormPath || !errors.As(err, &parse) || uri.EncodeRawName(parse.Input) == parse.Input {
		return "", false
	}
	return parse.Input, true
}

// fail replies with an error, and logs it unless the client caused it. An aborted request has no client to
// reply to: end closes its connection or stream.
func (x *exchange) fail(err error) {
	x.event.Err = err
	x.identify() // for the log and for the user
	if x.aborted(err) {
		x.reportAborted()
		return
	}
	x.report(err)
	design, lines := x.handler.config.Pages, withChosenLanguage(x.header, &x.request)
	if route.IsAPI(x.request.Path) && !x.request.Target.Explains { // the explanation has an HTML page
		lines = nil
	}
	reply := problem.Reply(design, lines, err)
	switch a := &x.request; {
	case a.Forwarded:
		reply = problem.ProxyReply(design, lines, "urnd", x.serverError(err))
	case a.IsName && a.Err == nil && a.Target.Form != route.FormMemento: // the links of the reply are those of the name
		if canonical, keyErr := x.handler.config.Names.CanonicalName(a.Target.Query.URI); keyErr == nil {
			reply = answer.WithErrorLinks(reply, x.base(), canonical.String(), a.IsLink, err)
		}
	}
	if x.request.Target.Form == route.FormHandle {
		reply = answer.HandleError(reply, x.request.Target.Handle, err)
	}
	var denied *policy.Denied
	if errors.As(err, &denied) {
		x.event.Rule = denied.Rule
	}
	if x.in.Major == 1 && x.isCut(err) {
		x.CloseAfterResponse()
	}
	reply.Record = resolver.RecordOf(err)
	x.reply(reply)
}

// isCut reports whether a failed request leaves the start of the next request on its connection unknown. A
// CONNECT always does, as tunnel data may follow, but not during a login of several messages: such a client
// sends no tunnel data before the next challenge, and the login needs its connection.
func (x *exchange) isCut(err error) bool {
	if x.in.Method != http.MethodConnect {
		return errors.Is(err, scheme.ErrRequestBody) || errors.Is(err, problem.ErrBodyTimeout)
	}
	var login *problem.LoginError
	return !errors.As(err, &login) || !login.InProgress
}

// serverError adds the requested URL to an error of a server or of a denied request, if the error does not name it.
func (x *exchange) serverError(err error) error {
	status := problem.Status(err)
	if status < http.StatusBadGateway && status != http.StatusForbidden || errors.As(err, new(*problem.Failure)) {
		return err
	}
	target := x.in.Target
	if x.event.Scheme != "" {
		target = x.event.Scheme + "://" + x.in.Host + target
	}
	return &problem.Failure{Err: err, Input: target, Noun: x.handler.config.Schemes.Noun(target)}
}

// aborted reports whether an error means that the request was aborted before its response began: the client
// disconnected or reset the stream, or the server stopped. An error while reading the request content does
// not count: the client may still read.
func (x *exchange) aborted(err error) bool {
	cause := lifetime.Cause(x.ctx)
	return cause != nil && (errors.Is(err, context.Canceled) || errors.Is(err, cause) ||
		errors.Is(cause, http.ErrServerClosed))
}

// reportAborted logs an aborted request: as a warning if the server stopped, for the administrator, else at
// debug level.
func (x *exchange) reportAborted() {
	level, reason := slog.LevelDebug, "the client disconnected"
	if errors.Is(lifetime.Cause(x.ctx), http.ErrServerClosed) {
		level, reason = slog.LevelWarn, "the server stopped"
	}
	x.handler.config.Log.Log(x.ctx, level, "request aborted", "client", x.client.Addr, "request", x.event.ID,
		"reason", reason)
}

// answerPanic reports a panic, and replies with an error. It returns false if the response has begun already;
// the caller then aborts it.
func (x *exchange) answerPanic(value any) bool {
	x.handler.config.Panicked(value, debug.Stack())
	if x.event.Status != 0 {
		return false
	}
	x.fail(fmt.Errorf("%w: %v", errPanic, value))
	return true
}

var errPanic = errors.New("request handler panicked")

// report logs an error that the client has not caused, and denials of the network guard. It changes no state:
// workers of a batch call it concurrently.
func (x *exchange) report(err error) { x.reportAs("request failed", problem.Status(err), err) }

// reportAs is report with a message, and with the status that is sent, which is 200 for a reply that err
// makes incomplete.
func (x *exchange) reportAs(message string, sent int, err error) {
	log, ctx := x.handler.config.Log, x.ctx
	if x.aborted(err) { // fail reports it once
		return
	}
	if isFailure(err) {
		attributes := []any{"status", sent, "client", x.client.Addr, "request", x.event.ID, "error", err}
		if x.request.Forwarded {
			host := x.in.Host
			if u := x.request.Target.Query.URI; x.request.Kind == route.KindFetch {
				host, _ = u.Host()
				if port, _ := u.Port(); port != "" {
					host += ":" + port
				}
			}
			attributes = append(attributes, "method", x.in.Method, "host", host)
		}
		if setting := problem.Setting(err); setting != "" {
			attributes = append(attributes, "setting", setting)
		}
		if detail := netguard.Detail(err); detail != "" {
			attributes = append(attributes, "detail", detail)
		}
		log.WarnContext(ctx, message, attributes...)
	} else if sent >= http.StatusBadRequest { // without the input, which may hold a password in an unrecognized form
		log.DebugContext(ctx, "request refused", "status", sent, "client", x.client.Addr, "request", x.event.ID,
			"reason", problem.New(err).Detail)
	}
}

// isFailure reports whether an error concerns the administrator: a failure of the server or of its network.
func isFailure(err error) bool {
	if errors.Is(err, netguard.ErrForbidden) {
		return true
	}
	status := problem.Status(err)
	return status >= http.StatusInternalServerError && status != http.StatusNotImplemented &&
		!errors.Is(err, context.Canceled) && !errors.As(err, new(*resolver.Negative))
}
