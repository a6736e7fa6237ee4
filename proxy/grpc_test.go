package proxy_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	grpcmetadata "google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver/scheme"
)

type bytesValue = wrapperspb.BytesValue

// talker is a gRPC service with the methods below. ended receives the method of each canceled stream, and
// "not yet" when hang starts.
type talker struct{ ended chan string }

// say is a unary method: it echoes its message and metadata, or returns an error.
func (talker) say(ctx context.Context, in *bytesValue) (*bytesValue, error) {
	if text, ok := strings.CutPrefix(string(in.GetValue()), "fail "); ok {
		return nil, status.Error(codes.FailedPrecondition, text)
	}
	md, _ := grpcmetadata.FromIncomingContext(ctx)
	_, hasDeadline := ctx.Deadline()
	_ = grpc.SetHeader(ctx, grpcmetadata.Pairs("x-seen",
		fmt.Sprintf("%q %q %q %t", md.Get("x-sent"), md.Get("x-bin-bin"), md.Get(":authority"), hasDeadline)))
	_ = grpc.SetTrailer(ctx, grpcmetadata.Pairs("x-end-bin", "\x00\xff"))
	return in, nil
}

// list sends a message for each byte of its input.
func (talker) list(s grpc.ServerStream) error {
	in := new(bytesValue)
	if err := s.RecvMsg(in); err != nil {
		return err
	}
	for i := range in.GetValue() {
		if err := s.SendMsg(wrapperspb.Bytes(in.GetValue()[i : i+1])); err != nil {
			return err
		}
	}
	return nil
}

// collect concatenates all messages until the client closes its side.
func (talker) collect(s grpc.ServerStream) error {
	var all []byte
	for {
		in := new(bytesValue)
		switch err := s.RecvMsg(in); {
		case errors.Is(err, io.EOF):
			return s.SendMsg(wrapperspb.Bytes(all))
		case err != nil:
			return err
		}
		all = append(all, in.GetValue()...)
	}
}

// talk echoes each message immediately, and ends with a status when the client closes its side, or at the
// message "fail".
func (t talker) talk(s grpc.ServerStream) error {
	if err := s.SendHeader(grpcmetadata.Pairs("x-begun", "1")); err != nil {
		return err
	}
	for {
		in := new(bytesValue)
		err := s.RecvMsg(in)
		switch {
		case errors.Is(err, io.EOF):
			s.SetTrailer(grpcmetadata.Pairs("x-end", "bye"))
			return nil
		case err != nil:
			t.ended <- "talk"
			return err
		case string(in.GetValue()) == "fail":
			return status.Error(codes.DataLoss, "failed")
		}
		if err := s.SendMsg(in); err != nil {
			return err
		}
	}
}

// hang sends nothing, until the client cancels.
func (t talker) hang(s grpc.ServerStream) error {
	t.ended <- "not yet"
	<-s.Context().Done()
	t.ended <- "hang"
	return s.Context().Err()
}

// startTalker serves the service, without TLS if secure is nil, and returns its address in the form of a
// site's server.
func startTalker(t testing.TB, secure *tls.Config) (address string, ended chan string) {
	t.Helper()
	service := talker{ended: make(chan string, 10)}
	streamed := func(name string, handler func(grpc.ServerStream) error, fromServer, fromClient bool) grpc.StreamDesc {
		return grpc.StreamDesc{
			StreamName: name, Handler: func(_ any, s grpc.ServerStream) error { return handler(s) },
			ServerStreams: fromServer, ClientStreams: fromClient,
		}
	}
	options := []grpc.ServerOption{grpc.MaxRecvMsgSize(64 << 20)}
	scheme := "h2c"
	if secure != nil {
		scheme = "https"
		options = append(options, grpc.Creds(credentials.NewTLS(secure)))
	}
	server := grpc.NewServer(options...)
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "test.Talker", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "Say",
			Handler: func(_ any, ctx context.Context, decode func(any) error,
				_ grpc.UnaryServerInterceptor,
			) (any, error) {
				in := new(bytesValue)
				if err := decode(in); err != nil {
					return nil, err
				}
				return service.say(ctx, in)
			},
		}},
		Streams: []grpc.StreamDesc{
			streamed("List", service.list, true, false), streamed("Collect", service.collect, false, true),
			streamed("Talk", service.talk, true, true), streamed("Hang", service.hang, true, true),
		},
	}, service)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() { server.Stop(); serving.Wait() })
	return scheme + "://" + listener.Addr().String(), service.ended
}

// dialTalker returns a client of the service, which is a site of urnd, and a context for its calls.
func dialTalker(t testing.TB, server string) (*grpc.ClientConn, context.Context) {
	t.Helper()
	s := startOn(t, certificate(t), func(c *proxy.Config) {
		mux, _ := c.Fetch.(scheme.Mux)
		c.Fetch = scheme.Mux{"http": mux["http"], "https": mux["http"]}
		talk := siteAt(t, nil, server)
		talk.Route.Host = "talk.example"
		talk.TLS = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}
		c.Sites = []proxy.Site{talk}
	}, func(e *engine) { e.protocols.BodyTimeout = testserver.Timeout })
	client, err := grpc.NewClient("passthrough:///"+s.addr,
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
			ServerName: "talk.example", InsecureSkipVerify: true,
		})), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), testserver.Timeout)
	t.Cleanup(cancel)
	return client, ctx
}

// eachTalker runs a test with a service over HTTP/2 with prior knowledge, and with one that negotiates it by ALPN.
func eachTalker(
	t *testing.T, test func(t *testing.T, client *grpc.ClientConn, ctx context.Context, ended chan string),
) { //nolint:revive // as subtests have it
	t.Helper()
	for name, secure := range map[string]*tls.Config{"h2c": nil, "https": certificate(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, ended := startTalker(t, secure)
			client, ctx := dialTalker(t, server)
			test(t, client, ctx, ended)
		})
	}
}

// A call has metadata, a deadline and a status, also in a response without content.
func TestGRPCUnary(t *testing.T) {
	t.Parallel()
	eachTalker(t, func(t *testing.T, client *grpc.ClientConn, ctx context.Context, _ chan string) {
		for _, size := range []int{0, 1, 5 << 20} {
			var header, trailer grpcmetadata.MD
			out, sent := new(bytesValue), bytes.Repeat([]byte("x"), size)
			err := client.Invoke(grpcmetadata.AppendToOutgoingContext(ctx, "x-sent", "1", "x-sent", "2", "x-bin-bin",
				"\x01\x02"), "/test.Talker/Say",
				wrapperspb.Bytes(sent), out, grpc.Header(&header), grpc.Trailer(&trailer))
			if err != nil || !bytes.Equal(out.GetValue(), sent) {
				t.Fatalf("%d bytes: %d, %v", size, len(out.GetValue()), err)
			}
			if got := fmt.Sprint(header.Get("x-seen")); got != `[["1" "2"] ["\x01\x02"] ["talk.example"] true]` {
				t.Errorf("metadata %s", got)
			}
			if got := fmt.Sprintf("%q %q", trailer.Get("x-end-bin"),
				header.Get("via")); got != `["\x00\xff"] ["1.1 urnd"]` {
				t.Errorf("trailer and Via: %s", got)
			}
		}
		err := client.Invoke(ctx, "/test.Talker/Say", wrapperspb.Bytes([]byte("fail why: ä")), new(bytesValue))
		if s := status.Convert(err); s.Code() != codes.FailedPrecondition || s.Message() != "why: ä" {
			t.Errorf("%v", err)
		}
		if err := client.Invoke(ctx, "/test.Talker/None", wrapperspb.Bytes(nil),
			new(bytesValue)); status.Code(err) != codes.Unimplemented {
			t.Errorf("a method that does not exist: %v", err)
		}
	})
}

// Streaming in one direction.
func TestGRPCStreams(t *testing.T) {
	t.Parallel()
	eachTalker(t, func(t *testing.T, client *grpc.ClientConn, ctx context.Context, _ chan string) {
		list, err := client.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/test.Talker/List")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(list.SendMsg(wrapperspb.Bytes([]byte("abc"))), list.CloseSend()); err != nil {
			t.Fatal(err)
		}
		if got, err := receiveAll(list); got != "a b c" || !errors.Is(err, io.EOF) {
			t.Errorf("from the server: %q, %v", got, err)
		}
		collect, err := client.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, "/test.Talker/Collect")
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"a", "b", "c"} {
			if err := collect.SendMsg(wrapperspb.Bytes([]byte(part))); err != nil {
				t.Fatal(err)
			}
		}
		if err := collect.CloseSend(); err != nil {
			t.Fatal(err)
		}
		if got, err := receiveAll(collect); got != "abc" || !errors.Is(err, io.EOF) {
			t.Errorf("from the client: %q, %v", got, err)
		}
	})
}

// receiveAll returns the messages of a stream, and the error at its end.
func receiveAll(s grpc.ClientStream) (string, error) {
	var all []string
	for {
		out := new(bytesValue)
		if err := s.RecvMsg(out); err != nil {
			return strings.Join(all, " "), err
		}
		all = append(all, string(out.GetValue()))
	}
}

// Both sides send on one stream in turn: each message is forwarded immediately, whatever its size, and each
// side closes on its own.
func TestGRPCBothWays(t *testing.T) {
	t.Parallel()
	eachTalker(t, func(t *testing.T, client *grpc.ClientConn, ctx context.Context, _ chan string) {
		for _, last := range []string{"", "fail"} {
			talk := openTalk(t, client, ctx)
			if header, err := talk.Header(); err != nil || fmt.Sprint(header.Get("x-begun")) != "[1]" {
				t.Fatalf("the head comes before any message: %v, %v", header, err)
			}
			for size := 1; size <= 1<<18; size *= 4 {
				for _, n := range []int{size - 1, size, size + 1} {
					turn(t, talk, bytes.Repeat([]byte("x"), n))
				}
			}
			if last == "" {
				if err := talk.CloseSend(); err != nil {
					t.Fatal(err)
				}
				if got, err := receiveAll(talk); got != "" || !errors.Is(err, io.EOF) ||
					fmt.Sprint(talk.Trailer().Get("x-end")) != "[bye]" {
					t.Errorf("%q, %v, %v", got, err, talk.Trailer())
				}
				continue
			}
			if err := talk.SendMsg(wrapperspb.Bytes([]byte(last))); err != nil {
				t.Fatal(err)
			}
			if _, err := receiveAll(talk); status.Code(err) != codes.DataLoss {
				t.Errorf("%v", err)
			}
		}
	})
}

func openTalk(t testing.TB, client *grpc.ClientConn, ctx context.Context) grpc.ClientStream { //nolint:revive // as subtests have it
	t.Helper()
	talk, err := client.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/test.Talker/Talk")
	if err != nil {
		t.Fatal(err)
	}
	return talk
}

// turn sends a message, and expects its echo.
func turn(t testing.TB, talk grpc.ClientStream, sent []byte) {
	t.Helper()
	if err := talk.SendMsg(wrapperspb.Bytes(sent)); err != nil {
		t.Fatal(err)
	}
	out := new(bytesValue)
	if err := talk.RecvMsg(out); err != nil || !bytes.Equal(out.GetValue(), sent) {
		t.Fatalf("%d bytes: %d, %v", len(sent), len(out.GetValue()), err)
	}
}

// Canceling a call cancels it at the server, before and after the response header; other calls continue.
func TestGRPCCancel(t *testing.T) {
	t.Parallel()
	eachTalker(t, func(t *testing.T, client *grpc.ClientConn, ctx context.Context, ended chan string) {
		other := openTalk(t, client, ctx)
		turn(t, other, []byte("before"))
		canceled, cancel := context.WithCancel(ctx)
		defer cancel()
		talk := openTalk(t, client, canceled)
		turn(t, talk, []byte("a"))
		hang, err := client.NewStream(canceled, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
			"/test.Talker/Hang")
		if err != nil {
			t.Fatal(err)
		}
		if err := hang.SendMsg(wrapperspb.Bytes([]byte("a"))); err != nil {
			t.Fatal(err)
		}
		testserver.Within(t, "the server hangs", func() { <-ended })
		cancel()
		for _, s := range []grpc.ClientStream{talk, hang} {
			if _, err := receiveAll(s); status.Code(err) != codes.Canceled {
				t.Errorf("%v", err)
			}
		}
		testserver.Within(t, "the server hears of it", func() {
			if a, b := <-ended, <-ended; a == b {
				t.Errorf("%s was canceled twice", a)
			}
		})
		turn(t, other, []byte("behind"))
	})
}
