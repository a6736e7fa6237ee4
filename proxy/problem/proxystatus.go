package problem

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// errorType is the error type of a kind of errors: RFC 9209 section 2.3.
type errorType struct {
	is   func(error) bool
	name string
}

// errorTypes is the only table from errors to the error types of Proxy-Status. The first row that
// applies counts.
func errorTypes() []errorType {
	return []errorType{
		{wraps(ErrLoop), "proxy_loop_detected"},
		{wraps(netguard.ErrForbidden), "destination_ip_prohibited"},
		{wraps(httpcache.ErrOnlyIfCached), "proxy_internal_response"},
		{wraps(ErrFetches), "connection_limit_reached"},
		{wraps(ErrBound), "connection_limit_reached"},
		{wraps(ErrStreams), "connection_limit_reached"},
		{isDNSTimeout, "dns_timeout"},
		{wraps(netguard.ErrLookup), "dns_error"},
		{has[*tls.CertificateVerificationError], "tls_certificate_error"},
		{has[x509.HostnameError], "tls_certificate_error"},
		{has[x509.UnknownAuthorityError], "tls_certificate_error"},
		{isAlert, "tls_alert_received"},
		{has[tls.RecordHeaderError], "tls_protocol_error"},
		{wraps(syscall.ECONNREFUSED), "connection_refused"},
		{wraps(syscall.EHOSTUNREACH), "destination_ip_unroutable"},
		{wraps(syscall.ENETUNREACH), "destination_ip_unroutable"},
		{wraps(scheme.ErrBody), "http_request_error"},
		{wraps(ErrBodyTimeout), "http_request_error"},
		{wraps(scheme.ErrResponse), "http_protocol_error"},
		{wraps(httpcache.ErrUnasked), "http_protocol_error"},
		{wraps(netguard.ErrConnectTimeout), "connection_timeout"},
		{wraps(context.DeadlineExceeded), "http_response_timeout"},
		{wraps(os.ErrDeadlineExceeded), "http_response_timeout"},
		{wraps(syscall.ECONNRESET), "connection_terminated"},
		{wraps(syscall.EPIPE), "connection_terminated"},
		{wraps(io.ErrUnexpectedEOF), "http_response_incomplete"},
		{wraps(io.EOF), "connection_terminated"},
		{wraps(scheme.ErrUnsupported), "proxy_configuration_error"},
		{wraps(resolver.ErrUnreachable), "destination_unavailable"},
	}
}

func wraps(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func has[E error](err error) bool {
	var found E
	return errors.As(err, &found)
}

// isAlert reports whether an error is an alert of the peer: crypto/tls has no type for it by TCP.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error" || has[tls.AlertError](err)
}

func isDNSTimeout(err error) bool {
	var dns net.Error
	return errors.Is(err, netguard.ErrLookup) && (errors.Is(err, context.DeadlineExceeded) || errors.As(err, &dns) && dns.Timeout())
}

// ProxyStatus returns the member of Proxy-Status (RFC 9209) of a proxy with this name for an error
// that it answers itself. A Refusal has no error type: the server has answered, and its answer was
// translated; and no received-status, since it had none of HTTP.
func ProxyStatus(name string, err error) string {
	if refusal := new(scheme.Refusal); errors.As(err, &refusal) {
		return name + "; details=" + quoted(refusal.Reply)
	}
	kind := "proxy_internal_error"
	status := Status(err)
	for _, t := range errorTypes() {
		if t.is(err) {
			kind = t.name
			break
		}
	}
	if kind == "proxy_internal_error" && status < http.StatusInternalServerError {
		kind = "http_request_error"
		if status == http.StatusForbidden || status == http.StatusProxyAuthRequired || status == http.StatusTooManyRequests {
			kind = "http_request_denied"
		}
	}
	return name + "; error=" + kind + "; details=" + quoted(New(err).Detail)
}

// maxDetails bounds the details, in octets.
const maxDetails = 200

// quoted returns a text as a String of RFC 9651 section 3.3.3. Other octets than those of ASCII are
// replaced.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(text[:min(len(text), maxDetails)]) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			b.WriteByte('?')
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
