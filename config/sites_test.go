package config_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
)

// TestSiteRoutes: omitted settings of an entry are inherited from the next shorter path of the same host.
func TestSiteRoutes(t *testing.T) {
	c, err := config.Load(write(t, "urnd.yaml", `
proxy:
  sites:
    - hosts: [www.example.org]
      path: /api/admin
      users: /etc/admins
      answer: {status: 403}
    - hosts: [WWW.Example.org., '*.Example.net']
      servers: ['http://192.0.2.1', 'http://192.0.2.2']
      weights: [2, 1]
      balance: hash
      timeout: 5s
      clients: [192.0.2.0/24]
      users: /etc/users
      response_remove: [Server]
      cache: [{min_ttl: 1h}]
    - hosts: [www.example.org]
      path: /api
      servers: ['http://192.0.2.3']
      replace: /v2
      clients: [198.51.100.0/24]
    - hosts: [www.example.org]
      path: /api/open
      public: true
    - hosts: [www.example.org]
      path: /api/open/x
    - hosts: [www.example.org]
      path: /apix
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	routes := make(map[string]config.SiteRoute)
	var order []string
	for _, r := range c.Proxy.SiteRoutes() {
		routes[r.String()] = r
		order = append(order, r.String())
	}
	want := "www.example.org *.example.net www.example.org/api www.example.org/apix www.example.org/api/open " +
		"www.example.org/api/admin www.example.org/api/open/x"
	if got := strings.Join(order, " "); got != want {
		t.Errorf("%s", got)
	}
	api, open, admin, other := routes["www.example.org/api"], routes["www.example.org/api/open/x"],
		routes["www.example.org/api/admin"], routes["www.example.org/apix"]
	switch {
	case api.Index != 2 || !slices.Equal(api.Servers, []string{"http://192.0.2.3"}) || api.Weights != nil ||
		api.Balance != "hash" || api.Timeout != 5*time.Second:
		t.Errorf("servers: %+v", api)
	case api.Users != "/etc/users" ||
		!slices.Equal(api.Clients, []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}) || len(api.Cache) != 1 ||
		len(api.ResponseRemove) != 1:
		t.Errorf("inherited: %+v", api)
	case !open.Public || open.Users != "" || open.Clients != nil || open.Replace != "" ||
		!slices.Equal(open.Servers, api.Servers):
		t.Errorf("public: %+v", open)
	case admin.Users != "/etc/admins" || admin.Answer.Status != 403 || !slices.Equal(admin.Clients, api.Clients):
		t.Errorf("an answer: %+v", admin)
	case !slices.Equal(other.Weights, []int{2, 1}) || len(other.Servers) != 2:
		t.Errorf("the next shorter path is one of whole segments: %+v", other)
	}
	for host, is := range map[string]bool{
		"www.example.org": true, "a.example.net": true, "a.b.example.net": false,
		"example.net": false, "example.org": false,
	} {
		if c.Proxy.HasSite(host) != is {
			t.Errorf("%s is a site: %t", host, !is)
		}
	}
}
