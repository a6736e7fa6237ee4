package gate

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

// FuzzToken: the token of Negotiate is the rest of the field after the scheme, in any case, without
// surrounding spaces.
func FuzzToken(f *testing.F) {
	for _, value := range []string{
		"", "Negotiate", "Negotiate ", "Negotiate YQ==", "nEGOTIATE  YQ== ",
		"Negotiate\tYQ==", "Negotiate2 a", "NTLM a", "Negotiate a b",
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		token, ok := tokenOf(httpmessage.NewHeader(http.Header{"Proxy-Authorization": {value, "Negotiate b"}}),
			"Proxy-Authorization")
		const scheme = "negotiate "
		if want := len(value) >= len(scheme) && strings.EqualFold(value[:len(scheme)], scheme); ok != want {
			t.Errorf("%q: %t", value, ok)
		}
		if ok && token != strings.Trim(value[len(scheme):], " \t") {
			t.Errorf("%q: %q", value, token)
		}
	})
}

// FuzzBasic: the credentials of a request are those that net/http finds.
func FuzzBasic(f *testing.F) {
	pair := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	for _, value := range []string{
		"", "Basic", "Basic ", "Basic " + pair("me:secret"), "bASIC " + pair("me:se:cret"), "Basic " + pair("me"),
		"Basic " + pair(":"), "Basic  " + pair("me:secret"), "Basic\t" + pair("me:secret"),
		" Basic " + pair("me:secret"), "Bearer " + pair("me:secret"), "Basi\u0107" + pair("me:secret"),
		"Ba\u017fic " + pair("me:secret"), "Ba\u017fic" + pair("me:secret"), "Basic bWU6c2VjcmV0=",
		"Basic bWU6\r\nc2Vj",
		"Basic bWU6_-==",
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		request := http.Request{Header: http.Header{"Authorization": {value, "Basic b3RoZXI6"}}}
		wantName, wantPassword, want := request.BasicAuth()
		name, password, ok := basic(httpmessage.NewHeader(request.Header), "Authorization")
		if name != wantName || password != wantPassword || ok != want {
			t.Errorf("%q: %q, %q, %t; want %q, %q, %t", value, name, password, ok, wantName, wantPassword, want)
		}
	})
}
