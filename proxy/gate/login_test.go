package gate_test

import (
	"errors"
	"net/http"
	"net/netip"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/problem"
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
		if got := gate.UserOf(httpmessage.NewHeader(tt.header)); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.header, got, tt.want)
		}
	}
}

// TestSiteLogin: a request for a site that needs a login gets the error of the site.
func TestSiteLogin(t *testing.T) {
	users := users(t, hashed(t, "ann", "secret"))
	ask := askOf(t, "GET", "/a", "www.example.org", false)
	for _, tt := range []struct {
		field string
		want  error
	}{{"Authorization", nil}, {"Proxy-Authorization", problem.ErrSiteLogin}} {
		g := gate.New(gate.Config{Access: access(), Sites: []gate.SiteAccess{{Users: users}}, Now: at})
		header := http.Header{tt.field: {basic("ann:secret")}}
		client := gate.Client{Addr: netip.MustParseAddr("10.9.9.9"), Header: httpmessage.NewHeader(header)}
		if v := g.Admit(t.Context(), &client, &ask); !errors.Is(v.Err, tt.want) {
			t.Errorf("%s: %v", tt.field, v.Err)
		}
	}
}
