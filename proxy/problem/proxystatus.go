package problem

import (
	"cmp"
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

// errorType is a row of errorTypes: a predicate for errors, an error type of RFC 9209 section 2.3, and the
// message for clients, as a code and in English. They are "" if clients may see the text of the error itself.
type errorType struct {
	is                  func(error) bool
	name, code, message string
}

// errorTypes is the only table from errors to the error types of Proxy-Status, and to messages about failures
// between urnd and a server, which clients get in place of texts with addresses. The first matching row
// applies.
func errorTypes() []errorType {
	return []errorType{
		{wraps(ErrLoop), "proxy_loop_detected", "", ""},
		{wraps(netguard.ErrForbidden), "destination_ip_prohibited", "", ""},
		{wraps(httpcache.ErrOnlyIfCached), "proxy_internal_response", "", ""},
		{wraps(ErrTooManyFetches), "connection_limit_reached", "", ""},
		{wraps(ErrTooManyBoundConnections), "connection_limit_reached", "", ""},
		{wraps(ErrTooManyStreams), "connection_limit_reached", "", ""},
		{isDNSTimeout, "dns_timeout", "dns_host_timeout", "the DNS lookup of the host timed out"},
		{isNoHost, "dns_error", "no_such_host", "there is no such host"},
		{wraps(netguard.ErrLookup), "dns_error", "dns_host_failed", "the DNS lookup of the host failed"},
		{isNameTimeout, "dns_timeout", "dns_timeout", "the DNS query timed out"},
		{has[*resolver.DNSError], "dns_error", "dns_failed", "the DNS query failed"},
		{
			has[x509.HostnameError], certificateError, "certificate_of_other_host",
			"the certificate of the server is for another host",
		},
		{
			has[x509.UnknownAuthorityError], certificateError, "certificate_untrusted",
			"the certificate of the server is issued by an untrusted authority",
		},
		{
			isExpired, certificateError, "certificate_expired",
			"the certificate of the server has expired or is not yet valid",
		},
		{
			has[*tls.CertificateVerificationError], certificateError, "certificate_not_valid",
			"the certificate of the server is not valid",
		},
		{isAlert, "tls_alert_received", "tls_refused", "the server rejected the TLS handshake"},
		{has[tls.RecordHeaderError], "tls_protocol_error", "tls_missing", "the server does not speak TLS"},
		{wraps(syscall.ECONNREFUSED), "connection_refused", "connection_refused", "the server refused the connection"},
		{wraps(syscall.EHOSTUNREACH), "destination_ip_unroutable", "no_route", "there is no route to the server"},
		{wraps(syscall.ENETUNREACH), "destination_ip_unroutable", "no_route", "there is no route to the server"},
		{wraps(scheme.ErrRequestBody), "http_request_error", "", ""},
		{wraps(ErrBodyTimeout), "http_request_error", "", ""},
		{wraps(scheme.ErrInvalidResponse), "http_protocol_error", "", ""},
		{wraps(httpcache.ErrUnexpectedNotModified), "http_protocol_error", "", ""},
		{
			wraps(netguard.ErrConnectTimeout), "connection_timeout", "connect_timeout",
			"connecting to the server timed out",
		},
		{wraps(context.DeadlineExceeded), "http_response_timeout", "response_timeout", tooSlow},
		{wraps(os.ErrDeadlineExceeded), "http_response_timeout", "response_timeout", tooSlow},
		{isTimeout, "http_response_timeout", "response_timeout", tooSlow},
		{wraps(syscall.ECONNRESET), "connection_terminated", "connection_reset", "the server reset the connection"},
		{wraps(syscall.EPIPE), "connection_terminated", "connection_reset", "the server reset the connection"},
		{
			wraps(io.ErrUnexpectedEOF), "http_response_incomplete", "response_incomplete",
			"the response of the server is incomplete",
		},
		{
			wraps(io.EOF), "connection_terminated", "connection_closed",
			"the server closed the connection without a response",
		},
		{wraps(scheme.ErrUnsupported), "proxy_configuration_error", "", ""},
		{
			wraps(resolver.ErrUnreachable), "destination_unavailable", "no_usable_answer",
			"the server sent no usable response",
		},
	}
}

const (
	certificateError = "tls_certificate_error"
	tooSlow          = "the response of the server timed out"
)

// typeOf returns the row of an error, the zero value for none.
func typeOf(err error) errorType {
	for _, t := range errorTypes() {
		if t.is(err) {
			return t
		}
	}
	return errorType{}
}

func wraps(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func has[E error](err error) bool {
	var found E
	return errors.As(err, &found)
}

// isAlert reports whether an error is a TLS alert of the peer. crypto/tls has no exported type for it over TCP.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error" || has[tls.AlertError](err)
}

func isDNSTimeout(err error) bool {
	return errors.Is(err, netguard.ErrLookup) && (errors.Is(err, context.DeadlineExceeded) || isTimeout(err))
}

// isNameTimeout reports whether the DNS timed out while resolving a name.
func isNameTimeout(err error) bool {
	return has[*resolver.DNSError](err) && (errors.Is(err, context.DeadlineExceeded) || isTimeout(err))
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// isNoHost reports whether an error means that a host does not exist, or has no address.
func isNoHost(err error) bool {
	var dns *net.DNSError
	return errors.Is(err, netguard.ErrLookup) &&
		(errors.Is(err, resolver.ErrNoHost) || errors.As(err, &dns) && dns.IsNotFound)
}

func isExpired(err error) bool {
	var invalid x509.CertificateInvalidError
	return errors.As(err, &invalid) && invalid.Reason == x509.Expired
}

// ProxyStatus returns the member of Proxy-Status (RFC 9209) of the proxy called name, for an error that it answers
// itself. A scheme.StatusError has no error type, because the server has answered and its answer was translated; and no
// received-status, because it had no HTTP status.
func ProxyStatus(name string, err error) string {
	if refusal := new(scheme.StatusError); errors.As(err, &refusal) {
		return name + "; details=" + quoted(refusal.Reply)
	}
	kind := cmp.Or(typeOf(err).name, "proxy_internal_error")
	status := Status(err)
	if kind == "proxy_internal_error" && status < http.StatusInternalServerError {
		kind = "http_request_error"
		if status == http.StatusForbidden || status == http.StatusProxyAuthRequired ||
			status == http.StatusTooManyRequests {
			kind = "http_request_denied"
		}
	}
	return name + "; error=" + kind + "; details=" + quoted(New(err).Detail)
}

// maxDetails is the maximum size of details in bytes.
const maxDetails = 200

// quoted returns a text as a String of RFC 9651 section 3.3.3. Bytes outside printable ASCII are replaced.
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
