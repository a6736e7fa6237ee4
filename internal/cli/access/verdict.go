package access

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Verdict is the decision about a request, and its reasons: the JSON document of "urnd access test".
type Verdict struct {
	Client      netip.Addr `json:"client"`
	User        string     `json:"user,omitempty"`
	Method      string     `json:"method"`
	Scheme      string     `json:"scheme,omitempty"` // none for CONNECT
	Host        string     `json:"host"`
	Port        uint16     `json:"port"`
	Destination string     `json:"destination,omitempty"`
	Result      string     `json:"result"`
	// Setting is the setting that denies the request, or that decides once the address is known.
	Setting   string `json:"setting,omitempty"`
	Policy    string `json:"policy"`         // the mode
	Rule      string `json:"rule,omitempty"` // the decisive rule
	WouldDeny bool   `json:"would_deny,omitempty"`
	Steps     []Step `json:"steps"`
}

// Step is one check.
type Step struct {
	Stage  string `json:"stage"`
	Detail string `json:"detail"`
}

// The results.
const (
	ResultAllowed = "allowed"
	ResultDenied  = "denied"
	ResultDepends = "depends" // on the dialled address
)

// trial is a request to be decided.
type trial struct {
	config      config.Config
	policy      *policy.Policy
	client      netip.Addr
	user        string
	groups      gate.Groups // nil for none
	at          time.Time
	hello       policy.Hello // of a tunnel, HelloNone if not given
	serverName  string       // TLS server name in the tunnel
	classified  route.Request
	destination netip.Addr // the zero value if unknown
	gateways    scheme.Infos
	// For a site: the requested URL, the sites of the configuration, the matching site, and the result of
	// Wiring.SiteURLs.
	target string
	routes []config.SiteRoute
	site   *config.SiteRoute
	urls   []string
}

// request returns the request in the form that rules match.
func (t *trial) request() policy.Request {
	r := policy.Request{
		Client: t.client, User: t.user, Method: t.classified.Method, Host: t.classified.Authority.Host,
		Port: t.classified.Authority.Port,
	}
	if t.classified.Kind != route.KindTunnel {
		r, _ = policy.NewRequest(t.client, t.user, t.classified.Method, t.classified.Key) // the URI was checked before
	}
	r.Time = t.at
	if t.groups != nil && t.user != "" {
		// the gate reports the error
		r.Groups, _ = t.groups.Memberships(context.Background(), t.user, t.policy.Groups())
	}
	return r
}

// verdictOf decides a request: by the gate of the daemon, the protocol gateway, and the guard of
// destinations.
func verdictOf(t trial) Verdict {
	if _, required := t.users(); !required {
		t.user = "" // no login is required
	}
	r := t.request()
	if literal, err := netip.ParseAddr(r.Host); err == nil && !t.destination.IsValid() {
		t.destination = literal
	}
	v := Verdict{
		Client: r.Client, User: r.User, Method: r.Method, Scheme: r.Scheme, Host: r.Host, Port: r.Port,
		Result: ResultAllowed, Policy: t.policy.Mode().String(),
	}
	if t.destination.IsValid() {
		v.Destination = t.destination.String()
	}
	v.noteSite(&t)
	v.askGate(&t, r)
	if v.Result != ResultDenied {
		switch dials := t.proxied() && v.checkGateway(&t); {
		case dials:
			v.checkGuard(t.config.Access, netip.AddrPortFrom(t.destination, r.Port))
		case v.Result == ResultDepends:
			v.Result, v.Setting = ResultAllowed, "" // no address is dialled
		}
	}
	if r.Scheme == "https" && t.classified.Kind != route.KindSite {
		v.note("note", "clients use CONNECT for https: also test CONNECT %s:%d", r.Host, r.Port)
	}
	return v
}

// askGate calls the gate of the daemon, and adds its steps.
func (v *Verdict) askGate(t *trial, r policy.Request) {
	c := t.config.Access
	access := gate.Access{Resolve: c.ResolveClients, Proxy: c.ProxyClients, Purge: c.PurgeClients, Groups: t.groups}
	if c.HasLogin() {
		access.Users = &gate.Users{} // passwords are not checked
	}
	now := func() time.Time { return t.at }
	decided := gate.New(gate.Config{
		Access: access, Sites: t.sites(), Policy: t.policy, Now: now,
		Step: func(step gate.Step, err error) {
			switch step {
			case gate.StepClient:
				v.noteClient(t, err)
			case gate.StepUser:
				v.noteUser(t, err)
			case gate.StepRules: // noted below
			default: // host, person and rate need a real request, and admit this one
				if err != nil {
					v.note(step.String(), "%v", err)
					v.deny("")
				}
			}
		},
	}).Admit(context.Background(), &gate.Client{Addr: t.client.Unmap().WithZone(""), User: t.user}, &t.classified)
	if decided.Step == gate.StepRules {
		v.noteRules(t, r, &decided)
	}
	if look := decided.TunnelCheck(); look != nil && t.hello != policy.HelloNone && v.Result != ResultDenied {
		v.noteHello(t, r, look(t.hello, t.serverName, netip.AddrPortFrom(t.destination, r.Port)))
		v.Rule = decided.Rule()
	}
}

func (v *Verdict) note(stage, format string, args ...any) {
	v.Steps = append(v.Steps, Step{stage, fmt.Sprintf(format, args...)})
}

// deny sets the result to denied, with the deciding setting.
func (v *Verdict) deny(setting string) { v.Result, v.Setting = ResultDenied, setting }

// noteClient adds the step about the address of the client.
func (v *Verdict) noteClient(t *trial, refused error) {
	verb, setting, prefixes := "use the proxy", "access.proxy_clients", t.config.Access.ProxyClients
	if t.classified.Site != nil {
		verb, setting, prefixes = "use this site", "access.resolve_clients", t.config.Access.ResolveClients
	}
	client := t.client.Unmap().WithZone("")
	i := slices.IndexFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(client) })
	if refused != nil && (t.site == nil || i < 0) { // otherwise the site denies it
		v.note("client", "%s may not %s (%s)", t.client, verb, setting)
		v.deny(setting)
		return
	}
	v.note("client", "%s may %s (%s: %s)", t.client, verb, setting, prefixes[i])
	if t.site != nil {
		v.noteSiteClient(t, client, refused)
	}
}

// noteUser adds the step about the login.
func (v *Verdict) noteUser(t *trial, refused error) {
	setting, required := t.users()
	switch {
	case t.site != nil && !required:
		v.note("user", "this site requires no login")
	case !required:
		v.note("user", "no user can log in (%s is empty)", setting)
	case refused != nil:
		v.note("user", "the client must log in (%s): set --user", setting)
		v.deny(setting)
	default:
		v.note("user", "%s, if the password is right (%s)", t.user, setting)
	}
}

// noteRules adds the steps of rules that decide, or may decide.
func (v *Verdict) noteRules(t *trial, r policy.Request, decided *gate.Verdict) {
	mode := t.policy.Mode()
	if mode == policy.ModeOpen {
		v.note("rules", "rules are ignored (proxy.policy is open)")
		return
	}
	err, check := decided.Err, decided.AddressCheck()
	if check != nil && t.destination.IsValid() {
		err, check = check(netip.AddrPortFrom(t.destination, r.Port)), nil
	}
	final := check == nil
	v.Rule = decided.Rule()
	for _, match := range t.policy.Explain(r) {
		decides := final && match.Rule == v.Rule
		v.note("rule", "%s", describeMatch(match, t.destination, decides))
		if decides {
			v.WouldDeny = match.Deny && mode == policy.ModeReport
			break
		}
	}
	switch {
	case final && v.Rule == "":
		v.note("rule", "no rule matches: the request is allowed")
	case !final && mode == policy.ModeReport:
		v.note("rule", "with proxy.policy enforce, it would depend on the destination address: set --destination")
	case !final:
		v.Result, v.Setting = ResultDepends, "proxy.rules"
	case err != nil:
		v.deny("proxy.rules")
	}
}

// noteHello adds the steps of rules that match the first bytes of a tunnel.
func (v *Verdict) noteHello(t *trial, r policy.Request, refused error) {
	r.Hello = t.hello
	if t.serverName != "" {
		r.Host = uri.CanonicalHost(t.serverName)
	}
	if refused == nil {
		v.note("client hello", "no rule denies the beginning of the tunnel (%s %s)", t.hello, r.Host)
		return
	}
	for _, match := range t.policy.Explain(r) {
		v.note("client hello", "%s", describeMatch(match, t.destination, true))
	}
	v.deny("proxy.rules")
}

// describeMatch describes the effect of a rule on a request, with its conditions.
func describeMatch(match policy.Match, destination netip.Addr, decides bool) string {
	var because []string
	for _, condition := range match.Conditions {
		because = append(because, condition.String())
	}
	text := fmt.Sprintf("%q allows", match.Rule)
	if match.Deny {
		text = fmt.Sprintf("%q denies", match.Rule)
	}
	switch joined := strings.Join(match.Destinations, ", "); {
	case joined == "" && len(because) == 0:
		because = append(because, "it has no conditions")
	case joined == "":
	case destination.IsValid() && decides:
		because = append(because, "destinations "+joined)
	case destination.IsValid():
		return fmt.Sprintf("%q does not match: %s is not in %s", match.Rule, destination, joined)
	default:
		text += " if the destination address is in " + joined
	}
	if len(because) == 0 {
		return text
	}
	return text + ": " + strings.Join(because, ", ")
}

// checkGuard checks the dialled address.
func (v *Verdict) checkGuard(access config.Access, dialled netip.AddrPort) {
	const setting = "access.allow_destinations"
	if !dialled.Addr().IsValid() {
		v.note("guard", "it checks the destination address (%s)", setting)
		return
	}
	if err := netguard.New(0, access.AllowDestinations...).Check(dialled); err != nil {
		v.note("guard", "%v (%s)", err, setting)
		v.deny(setting)
		return
	}
	v.note("guard", "connections to %s are allowed (%s)", dialled, setting)
}

// Summary returns the verdict in one line.
func (v Verdict) Summary() string {
	by := v.Setting
	if v.Rule != "" && v.Setting == "proxy.rules" {
		by = fmt.Sprintf("rule %q", v.Rule)
	}
	switch {
	case v.Result == ResultDenied && by == "":
		return ResultDenied
	case v.Result == ResultDenied:
		return "denied by " + by
	case v.Result == ResultDepends:
		return "depends on the destination address: set --destination"
	case v.WouldDeny:
		return fmt.Sprintf("allowed, because proxy.policy is report: rule %q would deny it", v.Rule)
	case v.Rule != "":
		return fmt.Sprintf("allowed by rule %q", v.Rule)
	}
	return ResultAllowed
}
