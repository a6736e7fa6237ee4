package problem_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/scheme"
)

// TestWords requires that failures are explained without what the error reveals about the internal network.
func TestWords(t *testing.T) {
	at := net.TCPAddrFromAddrPort(netip.MustParseAddrPort("10.9.9.1:8080"))
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Addr: at, Err: os.NewSyscallError("connect", err)}
	}
	read := func(err error) error { return &net.OpError{Op: "read", Net: "udp", Source: at, Addr: at, Err: err} }
	lookup := func(err error) error { return fmt.Errorf("%w: %w", netguard.ErrLookup, err) }
	verification := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	for _, tt := range []struct {
		err  error
		want string
	}{
		{dial(syscall.ECONNREFUSED), "the server refused the connection"},
		{dial(syscall.EHOSTUNREACH), "there is no route to the server"},
		{dial(syscall.EMFILE), "the server sent no usable response"},
		{
			fmt.Errorf("%w: %w", netguard.ErrConnectTimeout, dial(os.ErrDeadlineExceeded)),
			"connecting to the server timed out",
		},
		{read(os.ErrDeadlineExceeded), "the response of the server timed out"},
		{read(syscall.ECONNRESET), "the server reset the connection"},
		{io.ErrUnexpectedEOF, "the response of the server is incomplete"},
		{io.EOF, "the server closed the connection without a response"},
		{lookup(resolver.ErrNoHost), "there is no such host"},
		{
			lookup(&net.DNSError{Err: "no such host", Name: "a", Server: "10.9.9.53:53", IsNotFound: true}),
			"there is no such host",
		},
		{
			lookup(&net.DNSError{Err: "server misbehaving", Name: "a", Server: "10.9.9.53:53"}),
			"the DNS lookup of the host failed",
		},
		{lookup(read(os.ErrDeadlineExceeded)), "the DNS lookup of the host timed out"},
		{&resolver.DNSError{Err: read(syscall.ECONNREFUSED)}, "the DNS query failed"},
		{&resolver.DNSError{Err: read(os.ErrDeadlineExceeded)}, "the DNS query timed out"},
		{lookup(&resolver.DNSError{Err: read(os.ErrDeadlineExceeded)}), "the DNS lookup of the host timed out"},
		{
			verification(x509.HostnameError{Host: "10.9.9.1", Certificate: new(x509.Certificate)}),
			"the certificate of the server is for another host",
		},
		{
			verification(x509.UnknownAuthorityError{}),
			"the certificate of the server is issued by an untrusted authority",
		},
		{
			verification(x509.CertificateInvalidError{Reason: x509.Expired}),
			"the certificate of the server has expired or is not yet valid",
		},
		{verification(errors.New("10.9.9.1")), "the certificate of the server is not valid"},
		{tls.RecordHeaderError{Msg: "10.9.9.1"}, "the server does not speak TLS"},
		{errors.New("10.9.9.1"), "the server sent no usable response"},
		{fmt.Errorf("%w: two lengths", scheme.ErrInvalidResponse), "invalid response from the origin: two lengths"},
		{
			fmt.Errorf("%w: %w", scheme.ErrUpstream, dial(syscall.ECONNREFUSED)),
			"upstream proxy did not connect to the server",
		},
		{fmt.Errorf("%w: %w", scheme.ErrInvalidResponse, read(io.EOF)), "invalid response from the origin"},
		{
			fmt.Errorf("%w: the limit (limits.a)", resolver.ErrBusy),
			"too many concurrent requests: the limit (limits.a)",
		},
		{
			netguard.NewAllowlist(1).Check(netip.MustParseAddrPort("10.9.9.1:80")),
			"destination not allowed: its address is not a configured server (access.allow_destinations)",
		},
		{
			netguard.New(1).Check(netip.MustParseAddrPort("10.9.9.1:80")),
			"destination not allowed: its address is private (access.allow_destinations)",
		},
		{netguard.ErrOwn, netguard.ErrOwn.Error()},
		{&policy.Denied{Rule: "a"}, `the site's rule "a" denies this request (proxy.rules)`},
		{&problem.Reason{Code: "too_many_redirects", Text: "it redirects"}, "it redirects"},
		{&scheme.StatusError{Status: 502, Reply: "550 none"}, `server response: "550 none"`},
		{fmt.Errorf("%w: %w", scheme.ErrRequestBody, read(io.EOF)), scheme.ErrRequestBody.Error()},
		{fmt.Errorf("%w: %w", registry.ErrUnavailable,
			&fs.PathError{Op: "open", Path: "/10.9.9.1", Err: syscall.EACCES}), registry.ErrUnavailable.Error()},
		{
			fmt.Errorf("%w: %w", registry.ErrInvalid, &fs.PathError{Op: "open", Path: "/10.9.9.1", Err: syscall.EACCES}),
			registry.ErrInvalid.Error(),
		},
		{
			fmt.Errorf("%w: file /10.9.9.1 missing", fmt.Errorf("%w", registry.ErrUnavailable)),
			registry.ErrUnavailable.Error(),
		},
		{
			fmt.Errorf("%w: helper groups: its last message: cannot bind to 10.9.9.1", problem.ErrLoginUnavailable),
			problem.ErrLoginUnavailable.Error() + " (access.helpers)",
		},
		{context.Canceled, "the server sent no usable response"},
	} {
		for _, err := range []error{
			fmt.Errorf("fetching from 10.9.9.1: %w", resolver.Unreachable(fmt.Errorf("server 10.9.9.1: %w", tt.err))),
			resolver.Unreachable(errors.Join(errors.New("10.9.9.1"), tt.err)),
		} {
			if got := problem.New(err).Detail; got != tt.want {
				t.Errorf("%v: %q, want %q", tt.err, got, tt.want)
			}
			reply := problem.ProxyReply(pages.New(pages.Site{}), httpmessage.NewFields("Accept", "text/html").Values,
				"urnd", err)
			if all := fmt.Sprint(reply.Fields, string(reply.Body)); strings.Contains(all, "10.9.9.") {
				t.Errorf("%v: %s", tt.err, all)
			}
		}
	}
}
