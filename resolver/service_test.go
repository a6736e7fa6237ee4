package resolver_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

// RFC 2169 section 3 and RFC 2483 section 4: names of services, ignoring case.
func TestParseService(t *testing.T) {
	for name, want := range map[string]resolver.Service{
		"N2L": resolver.I2L, "n2l": resolver.I2L, "I2L": resolver.I2L, "L2L": resolver.I2L,
		"N2Ls": resolver.I2Ls, "I2LS": resolver.I2Ls, "L2Ls": resolver.I2Ls, "N2R": resolver.I2R, "L2R": resolver.I2R,
		"N2Rs": resolver.I2Rs, "N2C": resolver.I2C, "L2C": resolver.I2C, "I2Cs": resolver.I2Cs, "I2N": resolver.I2N,
		"N2Ns": resolver.I2Ns, "L2Ns": resolver.I2Ns, "I=I": resolver.IisI, "i=i": resolver.IisI,
	} {
		if got, ok := resolver.ParseService(name); !ok || got != want {
			t.Errorf("%s: %s, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", "N2", "X2L", "N2X", "N2Lss", "N 2L", "I]I"} {
		if got, ok := resolver.ParseService(name); ok {
			t.Errorf("%q is %s", name, got)
		}
	}
}

func TestCheckLocation(t *testing.T) {
	for location, want := range map[string]error{
		"https://a.example/": nil, "HTTP://a/": nil, "ftp://a/": nil, "news:a.b": nil, "gopher://a/": nil,
		"javascript:alert(1)": resolver.ErrForbidden, "data:,a": resolver.ErrForbidden,
		"file:///etc/passwd": resolver.ErrForbidden,
	} {
		if err := resolver.CheckLocation(location); !errors.Is(err, want) {
			t.Errorf("%s: %v", location, err)
		}
	}
	for _, location := range []string{"/a", "http://a/\r\nSet-Cookie: a", "http://a b/", ""} {
		if resolver.CheckLocation(location) == nil {
			t.Errorf("%q may be a location", location)
		}
	}
}

func TestTrace(t *testing.T) {
	if resolver.TraceOf(t.Context()) != nil {
		t.Error("a trace that was not requested")
	}
	now := time.Unix(0, 0)
	ctx, trace := resolver.WithTrace(t.Context(), func() time.Time { return now })
	now = now.Add(time.Millisecond)
	resolver.TraceOf(context.WithoutCancel(ctx)).Add(resolver.Step{Stage: "stage"}, "%d", 1)
	if got := trace.Steps(); len(got) != 1 ||
		!reflect.DeepEqual(got[0], resolver.Step{Stage: "stage", Detail: "1", At: time.Millisecond}) {
		t.Errorf("%+v", got)
	}
	for range 2000 {
		trace.Add(resolver.Step{Stage: "stage"}, "more")
	}
	if n := len(trace.Steps()); n != 1000 {
		t.Errorf("a trace has %d steps, want it bounded at 1000", n)
	}
	var disabled *resolver.Trace
	disabled.Add(resolver.Step{Stage: "stage"}, "nothing")
	if disabled.Steps() != nil {
		t.Error("the nil trace has steps")
	}
}
