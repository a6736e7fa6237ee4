package gate_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
)

// Names are listed for clients that may resolve names and may list them; hidden names are only shown if the
// client's address is certain.
func TestBrowse(t *testing.T) {
	const all, network, local = "0.0.0.0/0", "10.1.0.0/16", "127.0.0.0/8"
	for _, tt := range []struct {
		name                       string
		resolve, browse, browseAll []netip.Prefix
		client                     gate.Client
		isMisnamed                 bool
		want                       error
		all                        bool
	}{
		{
			"all", prefixes(all), prefixes(all), nil,
			gate.Client{Addr: netip.MustParseAddr("192.0.2.1")},
			false,
			nil, false,
		},
		{
			"nobody", prefixes(all), nil, prefixes(all),
			gate.Client{Addr: netip.MustParseAddr("192.0.2.1")},
			false,
			problem.ErrBrowseClient, true,
		},
		{
			"another network", prefixes(all), prefixes(network), nil,
			gate.Client{Addr: netip.MustParseAddr("192.0.2.1")},
			false, problem.ErrBrowseClient, false,
		},
		{
			"network", prefixes(all), prefixes(network), prefixes(network),
			gate.Client{Addr: netip.MustParseAddr("10.1.2.3")},
			false, nil, true,
		},
		{
			"who may not resolve", prefixes(local), prefixes(all), nil,
			gate.Client{Addr: netip.MustParseAddr("192.0.2.1")},
			false, problem.ErrResolveClient, false,
		},
		{
			"behind a proxy", prefixes(all), prefixes(network), prefixes(network),
			gate.Client{Addr: netip.MustParseAddr("10.1.2.3"), Relayed: true},
			false, problem.ErrBrowseClient, false,
		},
		{
			"behind a proxy, all", prefixes(all), prefixes(all), prefixes(network),
			gate.Client{Addr: netip.MustParseAddr("10.1.2.3"), Relayed: true},
			false, nil, false,
		},
		{
			"unknown", prefixes(all), prefixes(all), prefixes(network),
			gate.Client{Addr: netip.MustParseAddr("10.1.2.3"), Unknown: true},
			false, nil, false,
		},
		{
			"unknown in a network", prefixes(all), prefixes(network), nil,
			gate.Client{Addr: netip.MustParseAddr("10.1.2.3"), Unknown: true},
			false, problem.ErrBrowseClient, false,
		},
		{
			"led by another site", prefixes(all), prefixes(local), prefixes(local),
			gate.Client{Addr: netip.MustParseAddr("127.0.0.1")},
			true, problem.ErrUnknownHost, false,
		},
		{
			"led by another site, all", prefixes(all), prefixes(all), prefixes(local),
			gate.Client{Addr: netip.MustParseAddr("127.0.0.1")},
			true, nil, false,
		},
	} {
		access := gate.Access{Resolve: tt.resolve, Browse: tt.browse, BrowseAll: tt.browseAll}
		g := gate.New(gate.Config{Access: access, Now: time.Now, Policy: rulesOf(t)})
		ask := route.Request{
			Kind: route.KindPage, Method: "GET", IsGet: true, UnknownHost: tt.isMisnamed,
			Target: route.Target{Form: route.FormNames, Names: &route.Names{}},
		}
		if v := g.Admit(t.Context(), &tt.client, &ask); !errors.Is(v.Err, tt.want) ||
			(v.Err == nil) != (tt.want == nil) {
			t.Errorf("%s: %v, want %v", tt.name, v.Err, tt.want)
		}
		if is := g.MayBrowseAll(&tt.client, &ask); is != tt.all {
			t.Errorf("%s: hidden names are shown: %v", tt.name, is)
		}
		ask.Target = route.Target{Form: route.FormHome}
		if v := g.Admit(t.Context(), &tt.client, &ask); errors.Is(v.Err, problem.ErrBrowseClient) {
			t.Errorf("%s, another page: %v", tt.name, v.Err)
		}
	}
	for _, tt := range []struct {
		access gate.Access
		is     bool
	}{
		{gate.Access{}, false},
		{gate.Access{Browse: prefixes(all)}, true},
		{gate.Access{Browse: prefixes(network)}, false},
		{gate.Access{Browse: prefixes(all), BrowseAll: prefixes(network)}, false},
	} {
		if is := tt.access.SameListForAll(); is != tt.is {
			t.Errorf("%+v: %v", tt.access, is)
		}
	}
}
