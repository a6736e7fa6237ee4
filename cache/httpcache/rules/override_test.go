package rules

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// TestOverridden checks the result of an override for directives of the origin.
func TestOverridden(t *testing.T) {
	const now = "Sun, 22 Nov 2026 08:00:00 GMT"
	least := Override{MinLifetime: time.Minute}
	most := Override{MaxLifetime: time.Minute}
	both := Override{MinLifetime: time.Minute, MaxLifetime: 2 * time.Minute}
	revalidate := Override{WhileRevalidate: time.Minute}
	for _, test := range []struct {
		name              string
		override          Override
		status            int
		request, response string // fields, separated by " | "
		why               Reason
		// want is the lifetime, its source, and the reuse directives.
		want string
	}{
		{"nothing, nothing", Override{}, 200, "", "", ReasonNone, "0s"},
		{"nothing, max-age", Override{}, 200, "", "Cache-Control: max-age=10", ReasonNone, "10s max-age explicit"},
		{"nothing, a status", Override{}, 302, "", "", ReasonStatus, "0s"},

		{"least, nothing", least, 200, "", "", ReasonNone, "1m0s override explicit"},
		{"least, less", least, 200, "", "Cache-Control: max-age=10", ReasonNone, "1m0s override explicit"},
		{"least, more", least, 200, "", "Cache-Control: max-age=100", ReasonNone, "1m40s max-age explicit"},
		{"least, max-age=0", least, 200, "", "Cache-Control: max-age=0", ReasonNone, "1m0s override explicit"},
		{
			"least, s-maxage", least, 200, "", "Cache-Control: s-maxage=1", ReasonNone,
			"1m0s override explicit must-revalidate",
		},
		{"least, no-cache", least, 200, "", "Cache-Control: no-cache", ReasonNone, "1m0s override explicit"},
		{
			"least, no-cache with names", least, 200, "", "Cache-Control: no-cache=X-A", ReasonNone,
			"1m0s override explicit",
		},
		{
			"least, must-revalidate", least, 200, "", "Cache-Control: max-age=0, must-revalidate", ReasonNone,
			"1m0s override explicit must-revalidate",
		},
		{"least, Expires now", least, 200, "", "Expires: " + now, ReasonNone, "1m0s override explicit"},
		{"least, Expires invalid", least, 200, "", "Expires: 0", ReasonNone, "1m0s override explicit"},
		{
			"least, Expires later", least, 200, "", "Expires: Sun, 22 Nov 2026 09:00:00 GMT", ReasonNone,
			"1h0m0s Expires explicit",
		},
		{
			"least, a heuristic", least, 200, "", "Last-Modified: Sun, 22 Nov 2026 07:00:00 GMT", ReasonNone,
			"6m0s heuristic explicit",
		},
		{"least, a part", least, 206, "", "Content-Range: bytes 0-1/2", ReasonNone, "1m0s override explicit"},
		{"least, a status of no default", least, 302, "", "", ReasonStatus, "0s"},
		{
			"least, a status that is listed",
			Override{MinLifetime: time.Minute, Statuses: []int{302}},
			302, "", "",
			ReasonNone, "1m0s override explicit",
		},
		{
			"least, a status that is not listed",
			Override{MinLifetime: time.Minute, Statuses: []int{302}},
			200, "", "",
			ReasonNone, "0s",
		},

		{"least, no-store", least, 200, "", "Cache-Control: no-store", ReasonNoStore, ""},
		{"least, private", least, 200, "", "Cache-Control: private", ReasonPrivate, ""},
		{"least, private and max-age", least, 200, "", "Cache-Control: private, max-age=100", ReasonPrivate, ""},
		{
			"least, private with names", least, 200, "", "Cache-Control: private=X-A", ReasonNone,
			"1m0s override explicit",
		},
		{"least, Vary: *", least, 200, "", "Vary: *", ReasonVary, ""},
		{
			"least, must-understand",
			Override{MinLifetime: time.Minute, Statuses: []int{299}},
			299, "",
			"Cache-Control: must-understand", ReasonMustUnderstand, "",
		},
		{"least, Authorization", least, 200, "Authorization: Basic x", "", ReasonAuthorization, ""},
		{
			"least, Authorization and max-age", least, 200, "Authorization: Basic x", "Cache-Control: max-age=10",
			ReasonAuthorization, "",
		},
		{
			"least, Authorization and public", least, 200, "Authorization: Basic x", "Cache-Control: public, no-cache",
			ReasonNone, "0s no-cache must-revalidate",
		},
		{
			"least, Authorization and must-revalidate", least, 200, "Authorization: Basic x",
			"Cache-Control: max-age=0, must-revalidate", ReasonNone, "0s max-age explicit must-revalidate",
		},
		{"least, Set-Cookie", least, 200, "", "Set-Cookie: a=b", ReasonSetCookie, "0s"},
		{
			"least, Set-Cookie and max-age", least, 200, "", "Set-Cookie: a=b | Cache-Control: max-age=10", ReasonNone,
			"10s max-age explicit",
		},
		{
			"least, Set-Cookie and no-cache", least, 200, "", "Set-Cookie: a=b | Cache-Control: no-cache", ReasonSetCookie,
			"0s no-cache must-revalidate",
		},
		{
			"least, Set-Cookie and public", least, 200, "", "Set-Cookie: a=b | Cache-Control: public, max-age=0",
			ReasonNone, "0s max-age explicit",
		},
		{"least, Cookie", least, 200, "Cookie: a=b", "", ReasonNone, "1m0s override explicit"},
		{"least, a field that nobody knows", least, 200, "X-Unknown: 1", "", ReasonUnkeyed, "1m0s override explicit"},
		{"least, the client's no-store", least, 200, "Cache-Control: no-store", "", ReasonRequestNoStore, ""},
		{
			"least, an error of a client",
			Override{MinLifetime: time.Minute, Statuses: []int{429}},
			429, "", "",
			ReasonClientError, "1m0s override explicit",
		},

		{"most, nothing", most, 200, "", "", ReasonNone, "0s"},
		{"most, less", most, 200, "", "Cache-Control: max-age=10", ReasonNone, "10s max-age explicit"},
		{"most, more", most, 200, "", "Cache-Control: max-age=100", ReasonNone, "1m0s override explicit"},
		{
			"most, s-maxage", most, 200, "", "Cache-Control: s-maxage=100", ReasonNone,
			"1m0s override explicit must-revalidate",
		},
		{
			"most, no-cache", most, 200, "", "Cache-Control: no-cache, max-age=100", ReasonNone,
			"1m0s override explicit no-cache must-revalidate",
		},
		{
			"most, a heuristic", most, 200, "", "Last-Modified: Sun, 22 Nov 2026 07:00:00 GMT", ReasonNone,
			"1m0s override",
		},
		{
			"most, a heuristic and a cookie", most, 200, "Cookie: a=b", "Last-Modified: Sun, 22 Nov 2026 07:00:00 GMT",
			ReasonCookie, "1m0s override",
		},
		{"most, a status", Override{MaxLifetime: time.Minute, Statuses: []int{302}}, 302, "", "", ReasonStatus, "0s"},
		{"both, less", both, 200, "", "Cache-Control: max-age=10", ReasonNone, "1m0s override explicit"},
		{"both, between", both, 200, "", "Cache-Control: max-age=100", ReasonNone, "1m40s max-age explicit"},
		{"both, more", both, 200, "", "Cache-Control: max-age=1000", ReasonNone, "2m0s override explicit"},
		{
			"both, Set-Cookie", both, 200, "", "Set-Cookie: a=b | Cache-Control: max-age=1000", ReasonNone,
			"2m0s override explicit",
		},
		{
			"least is more than most",
			Override{MinLifetime: time.Hour, MaxLifetime: time.Minute},
			200, "", "", ReasonNone,
			"1m0s override explicit",
		},
		{
			"least is longer than all",
			Override{MinLifetime: 1 << 62},
			200, "", "", ReasonNone,
			MaxLifetime.String() + " override explicit",
		},

		{
			"stale, nothing", revalidate, 200, "", "Cache-Control: max-age=10", ReasonNone,
			"10s max-age explicit stale 1m0s",
		},
		{
			"stale, the origin's", revalidate, 200, "", "Cache-Control: max-age=10, stale-while-revalidate=5", ReasonNone,
			"10s max-age explicit stale 5s",
		},
		{
			"stale, the origin's none", revalidate, 200, "", "Cache-Control: max-age=10, stale-while-revalidate=0",
			ReasonNone, "10s max-age explicit",
		},
		{
			"stale, no-cache", revalidate, 200, "", "Cache-Control: no-cache", ReasonNone,
			"0s no-cache must-revalidate stale 1m0s",
		},

		{"never", Override{NoStore: true}, 200, "", "Cache-Control: max-age=10", ReasonOverride, ""},
		{"never, public", Override{NoStore: true}, 200, "", "Cache-Control: public, max-age=10", ReasonOverride, ""},
		{
			"never, another status",
			Override{NoStore: true},
			500, "", "Cache-Control: max-age=10", ReasonNone,
			"10s max-age explicit",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &httpmessage.Request{Method: http.MethodGet, Fields: fieldsOf(test.request)}
			got := &httpmessage.Response{Status: test.status, Fields: fieldsOf(test.response + " | Date: " + now)}
			at, _ := ParseDate(now)
			control := NewControl(nil, got.Fields, nil).Overridden([]Override{test.override}, r, got)
			s, _ := NewResponse("", r.Fields, got, control, Heuristic{Fraction: 0.1, MaxLifetime: time.Hour},
				Arrival{at, at})
			why := MayStore(r, ParseRequest(r.Fields), control, got)
			if why == ReasonNone {
				why = MayShare(r, NewSafelist(nil).Unkeyed(r, nil), got, s.Explicit)
			}
			if why != test.why {
				t.Errorf("%q, want %q", why.Code(), test.why.Code())
			}
			if reported := sayingOf(&s); reported != test.want && test.want != "" {
				t.Errorf("%q, want %q", reported, test.want)
			}
			if control.String() != NewControl(nil, got.Fields, nil).String() {
				t.Errorf("the directives are %s", control.Directives)
			}
		})
	}
}

// sayingOf returns the reuse directives of a response.
func sayingOf(s *Response) string {
	reported := s.Lifetime.String() + " " + s.Source.String()
	for _, one := range []struct {
		text string
		ok   bool
	}{
		{"explicit", s.Explicit},
		{"no-cache", s.NoCache},
		{"must-revalidate", s.MustRevalidate},
		{"stale " + s.WhileRevalidate.String(), s.WhileRevalidate > 0},
	} {
		if one.ok {
			reported += " " + one.text
		}
	}
	return strings.Join(strings.Fields(reported), " ")
}

func fieldsOf(text string) httpmessage.Fields {
	fields := httpmessage.Fields{}
	for line := range strings.SplitSeq(text, " | ") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			fields.Add(name, value)
		}
	}
	return fields
}

// TestFindOverride: the first override that applies to a response, by media type and status code.
func TestFindOverride(t *testing.T) {
	overrides := []Override{
		{Types: []string{"text/html", "image/*"}, Statuses: []int{200}},
		{Types: []string{"Text/*"}},
		{Statuses: []int{404, 500}},
		{Types: []string{"application/json", "*/*", "*", "video", ""}},
	}
	for _, test := range []struct {
		status int
		kind   string
		want   int
	}{
		{200, "text/html", 0},
		{200, " TEXT/HTML ; charset=utf-8", 0},
		{404, "text/html", 1},
		{200, "text/htmlx", 1},
		{200, "image/png", 0},
		{200, "image/", -1},
		{200, "imagery/png", -1},
		{206, "image/png", 0},
		{203, "image/png", -1},
		{200, "text/plain", 1},
		{206, "text/plain", 1},
		{302, "text/plain", -1},
		{405, "text/plain", -1},
		{500, "text/plain", 2},
		{404, "", 2},
		{200, "", -1},
		{200, "application/json", 3},
		{410, "application/json", 3},
		{200, "video/mp4", -1},
	} {
		fields := httpmessage.Fields{}
		if test.kind != "" {
			fields.Add("Content-Type", test.kind)
		}
		if got := FindOverride(overrides, test.status, fields); got != test.want {
			t.Errorf("%d %q: %d, want %d", test.status, test.kind, got, test.want)
		}
		if FindOverride(nil, test.status, fields) != -1 {
			t.Errorf("%d %q: one of none", test.status, test.kind)
		}
	}
}

// TestOverriddenCostsNothing: applying overrides allocates nothing.
func TestOverriddenCostsNothing(t *testing.T) {
	r := &httpmessage.Request{Method: http.MethodGet}
	got := &httpmessage.Response{
		Status: 200,
		Fields: fieldsOf("Content-Type: text/html; charset=utf-8 | Cache-Control: no-cache"),
	}
	control := NewControl(nil, got.Fields, nil)
	for _, overrides := range [][]Override{
		nil,
		{{Types: []string{"image/*"}}, {Types: []string{"text/*"}, MinLifetime: time.Minute}},
	} {
		if n := testing.AllocsPerRun(100, func() {
			c := control.Overridden(overrides, r, got)
			if MayStore(r, RequestDirectives{}, c, got) != ReasonNone || MayShare(r, nil, got, true) != ReasonNone {
				t.Error("it is not stored")
			}
		}); n > 0 {
			t.Errorf("%d overrides: %v allocations", len(overrides), n)
		}
	}
}
