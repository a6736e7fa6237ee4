package httpmessage_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

// TestRequestFields checks each column of the table: every field is in exactly one list of each group.
func TestRequestFields(t *testing.T) {
	const end, hop = httpmessage.EndToEnd, httpmessage.HopByHop
	for _, column := range []struct {
		name      string
		mask, use httpmessage.FieldUse // selects fields whose bits in mask equal use
		want      string
	}{
		// RFC 9110 section 7.6.1
		{
			"hop-by-hop", hop | end, hop,
			"Connection HTTP2-Settings Keep-Alive Proxy-Authenticate Proxy-Authentication-Info Proxy-Authorization " +
				"Proxy-Connection TE Trailer Transfer-Encoding Upgrade",
		},
		{
			"for all recipients", hop | end, end,
			"Accept Accept-* Accept-Charset Accept-Datetime Accept-Encoding Accept-Language Access-Control-* " +
				"Authorization Cache-Control CDN-Loop Content-* Content-Length Cookie Expect Forwarded From Host " +
				"If-* If-Match If-Modified-Since If-None-Match If-Range If-Unmodified-Since Max-Forwards Origin " +
				"Pragma Prefer Range Referer Sec-* User-Agent Via X-Forwarded-* X-Forwarded-For X-Forwarded-Host " +
				"X-Forwarded-Port X-Forwarded-Proto X-Forwarded-Server X-Real-IP",
		},
		{
			"for all unless Connection names it", hop | end, 0,
			"B3 Baggage Device-Memory DNT Downlink DPR Priority Proxy RTT Save-Data Traceparent Tracestate " +
				"Upgrade-Insecure-Requests Urnd-Hops Viewport-Width Width X-B3-* X-Correlation-ID X-Request-ID " +
				"X-Requested-With",
		},
		{ // RFC 9113 section 8.2.2
			"malformed by HTTP/2", httpmessage.ConnectionSpecific, httpmessage.ConnectionSpecific,
			"Connection Keep-Alive Proxy-Connection Transfer-Encoding Upgrade",
		},
		{
			"of one message", httpmessage.Framing, httpmessage.Framing,
			"Connection Content-Length Expect Host Keep-Alive Proxy-Connection TE Trailer Transfer-Encoding",
		},
		{
			"safelisted", httpmessage.Safelisted, httpmessage.Safelisted,
			"Accept Accept-Charset Accept-Datetime Accept-Encoding Accept-Language Authorization B3 Baggage " +
				"Cache-Control CDN-Loop Content-Length Cookie Device-Memory DNT Downlink DPR Expect From Host " +
				"If-Match If-Modified-Since If-None-Match If-Range If-Unmodified-Since Origin Pragma Priority Range " +
				"Referer RTT Save-Data Sec-* Traceparent Tracestate Upgrade-Insecure-Requests Urnd-Hops User-Agent " +
				"Via Viewport-Width Width X-B3-* X-Correlation-ID X-Request-ID",
		},
		{
			"end-to-end, and in a key or for one client alone", httpmessage.Safelisted | hop, 0,
			"Accept-* Access-Control-* Content-* Forwarded If-* Max-Forwards Prefer Proxy X-Forwarded-* " +
				"X-Forwarded-For X-Forwarded-Host X-Forwarded-Port X-Forwarded-Proto X-Forwarded-Server X-Real-IP " +
				"X-Requested-With",
		},
		{
			"plain", httpmessage.Plain, httpmessage.Plain,
			"Accept Accept-Charset Accept-Encoding Accept-Language Cookie DNT Forwarded If-Modified-Since " +
				"If-None-Match If-Range Origin Priority Proxy-Connection Range Referer Save-Data Sec-* " +
				"Upgrade-Insecure-Requests User-Agent Via X-Forwarded-For X-Forwarded-Host X-Forwarded-Port " +
				"X-Forwarded-Proto X-Forwarded-Server X-Real-IP X-Requested-With",
		},
		{
			"not plain", httpmessage.Plain, 0,
			"Accept-* Accept-Datetime Access-Control-* Authorization B3 Baggage Cache-Control CDN-Loop Connection " +
				"Content-* Content-Length Device-Memory Downlink DPR Expect From Host HTTP2-Settings If-* If-Match " +
				"If-Unmodified-Since Keep-Alive Max-Forwards Pragma Prefer Proxy Proxy-Authenticate " +
				"Proxy-Authentication-Info Proxy-Authorization RTT TE Traceparent Tracestate Trailer " +
				"Transfer-Encoding Upgrade Urnd-Hops Viewport-Width Width X-B3-* X-Correlation-ID X-Forwarded-* " +
				"X-Request-ID",
		},
		{ // RFC 9110 sections 12.5.1 to 12.5.4
			"weighted", httpmessage.Weighted, httpmessage.Weighted,
			"Accept Accept-Charset Accept-Encoding Accept-Language",
		},
		{ // RFC 9110 section 13.1
			"conditional", httpmessage.Conditional, httpmessage.Conditional,
			"If-Match If-Modified-Since If-None-Match If-Range If-Unmodified-Since",
		},
		{"ranged", httpmessage.Ranged, httpmessage.Ranged, "If-Range Range"},
		{
			"of a proxy in front", httpmessage.FromProxy, httpmessage.FromProxy,
			"Forwarded X-Forwarded-* X-Forwarded-For X-Forwarded-Host X-Forwarded-Port X-Forwarded-Proto " +
				"X-Forwarded-Server X-Real-IP",
		},
		{"naming the client", httpmessage.NamesClient, httpmessage.NamesClient, "Forwarded X-Forwarded-For X-Real-IP"},
		{"dropped", httpmessage.Dropped, httpmessage.Dropped, "Proxy"}, // CVE-2016-5385
		{"secret", httpmessage.Secret, httpmessage.Secret, "Authorization Cookie Proxy-Authorization"},
		{"logged", httpmessage.Logged, httpmessage.Logged, "Host Referer User-Agent X-Request-ID"},
	} {
		want := strings.Fields(column.want)
		for _, f := range httpmessage.RequestFields() {
			if is := f.Use&column.mask == column.use; is != slices.Contains(want, f.Name) {
				t.Errorf("%s: %s is %t", column.name, f.Name, is)
			}
			want = slices.DeleteFunc(want, func(name string) bool { return name == f.Name })
		}
		if len(want) > 0 {
			t.Errorf("%s: %v are not in the table", column.name, want)
		}
	}
}

// TestRequestFieldsAgree checks that the bits of a field do not contradict each other, and that rows are sorted
// by name.
func TestRequestFieldsAgree(t *testing.T) {
	const (
		hop, end  = httpmessage.HopByHop, httpmessage.EndToEnd
		specific  = httpmessage.ConnectionSpecific
		proxy     = httpmessage.FromProxy
		named     = httpmessage.NamesClient
		safe      = httpmessage.Safelisted
		ofClients = proxy | httpmessage.Dropped
	)
	all := httpmessage.RequestFields()
	for i, f := range all {
		if i > 0 && strings.ToLower(all[i-1].Name) >= strings.ToLower(f.Name) {
			t.Errorf("%s is behind %s", f.Name, all[i-1].Name)
		}
		for failure, is := range map[string]bool{
			"hop-by-hop and for all recipients":                f.Use&(hop|end) == hop|end,
			"about the connection, and not hop-by-hop":         f.Use&specific != 0 && f.Use&hop == 0,
			"naming the client, and not of a proxy":            f.Use&named != 0 && f.Use&proxy == 0,
			"safelisted, and removed or made anew":             f.Use&safe != 0 && f.Use&(ofClients|hop) != 0,
			"safelisted without a reason, or a reason for not": (f.Use&safe != 0) != (f.Reason != ""),
			"secret and logged": f.Use&httpmessage.Secret != 0 &&
				f.Use&httpmessage.Logged != 0,
		} {
			if is {
				t.Errorf("%s is %s", f.Name, failure)
			}
		}
	}
}

// TestUseOf checks that names are found case-insensitively, that prefixes apply, and that other names have no
// use.
func TestUseOf(t *testing.T) {
	for _, f := range httpmessage.RequestFields() {
		name := strings.Replace(f.Name, "*", "Any-Other", 1)
		for _, spelled := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if got := httpmessage.UseOf(spelled); got != f.Use {
				t.Errorf("%s: %b, want %b", spelled, got, f.Use)
			}
		}
	}
	for _, name := range []string{
		"", "-", "X", "Acce\u017ft", "Content_Length", "Sec-Fetch_Site", "X-Forwarded_Proto", "X_Real_IP",
		"Proxy-Authorizatiom", "Proxy-", "X-HTTP-Method-Override", "@ccept", "`e", "TE\x00", "accept\r", "sec", "X-B3",
		"IF", strings.Repeat("a", 1<<16),
	} {
		if got := httpmessage.UseOf(name); got != 0 {
			t.Errorf("%q: %b", name, got)
		}
	}
	if n := testing.AllocsPerRun(100,
		func() { httpmessage.UseOf("sec-ch-ua-platform-version"); httpmessage.UseOf("X_Other") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestSafelistIsDocumented checks that docs/proxy.md lists each safelisted field.
func TestSafelistIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/proxy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n### What is stored for others\n")
	_, listed, _ := strings.Cut(section, "Safelisted are ")
	listed, _, _ = strings.Cut(listed, "\n\n")
	for _, f := range httpmessage.RequestFields() {
		if strings.Contains(listed, "`"+f.Name+"`") != (f.Reason != "") {
			t.Errorf("docs/proxy.md lists `%s`, or not, but its reason is %q", f.Name, f.Reason)
		}
	}
}

// BenchmarkUseOf looks up the field names of a browser's request, as in HTTP/1 and HTTP/2, and those of a
// response.
func BenchmarkUseOf(b *testing.B) {
	browser := []string{
		"User-Agent", "Accept", "Accept-Language", "Accept-Encoding", "Connection", "Referer", "Cookie",
		"Upgrade-Insecure-Requests", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "If-None-Match",
	}
	for _, request := range []struct {
		name  string
		names []string
	}{
		{"browser", browser},
		{"http2", strings.Split(strings.ToLower(strings.Join(browser, " ")), " ")},
		{"response", []string{
			"Date", "Content-Type", "Last-Modified", "Etag", "Cache-Control", "Age", "Via",
			"Cache-Status",
		}},
		{"unknown", []string{"X-Anything", "Depth", "Set-Something-Long-That-Is-In-No-Table"}},
	} {
		b.Run(request.name, func(b *testing.B) {
			b.ReportAllocs()
			var use httpmessage.FieldUse
			for b.Loop() {
				for _, name := range request.names {
					use |= httpmessage.UseOf(name)
				}
			}
			if use == 1 {
				b.Error(use)
			}
		})
	}
}
