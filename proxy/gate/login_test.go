package gate_test

import (
	"net/http"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/gate"
)

func TestUserOf(t *testing.T) {
	const basic, other = "Basic bWU6c2VjcmV0", "Basic eW91OnNlY3JldA==" // me:secret, you:secret
	for _, tt := range []struct {
		header http.Header
		want   string
	}{
		{nil, ""},
		{http.Header{"Authorization": {basic}}, "me"},
		{http.Header{"Authorization": {basic, other}}, "me"},
		{http.Header{"Proxy-Authorization": {other}, "Authorization": {basic}}, "you"},
		{http.Header{"Proxy-Authorization": {"Bearer x"}, "Authorization": {basic}}, "me"},
		{http.Header{"Proxy-Authorization": {}, "Authorization": {"Basic x"}}, ""},
	} {
		if got := gate.UserOf(httpmessage.LinesOf(tt.header)); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.header, got, tt.want)
		}
	}
}
