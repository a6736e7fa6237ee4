package main

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/policy"
	"github.com/urnd/urnd/uri"
)

// verdict is what becomes of a request, and why: the JSON document of "urnd access test".
type verdict struct {
	Client      netip.Addr   `json:"client"`
	User        string       `json:"user,omitempty"`
	Method      string       `json:"method"`
	Scheme      string       `json:"scheme,omitempty"` // none for CONNECT
	Host        string       `json:"host"`
	Port        uint16       `json:"port"`
	Destination string       `json:"destination,omitempty"`
	Result      string       `json:"result"`
	Setting     string       `json:"setting,omitempty"` // that refuses the request, or decides it once the address is known
	Policy      string       `json:"policy"`            // the mode
	Rule        string       `json:"rule,omitempty"`    // that decides
	WouldDeny   bool         `json:"would_deny,omitempty"`
	Steps       []accessStep `json:"steps"`
}

// accessStep is one check.
type accessStep struct {
	Stage  string `json:"stage"`
	Detail string `json:"detail"`
}

// The results.
const (
	resultAllowed = "allowed"
	resultDenied  = "denied"
	resultDepends = "depends" // on the address that is dialled
)

// judge decides a request as the daemon does: client, user, rules, gateway, guard. u is the zero value
// for CONNECT, and destination is invalid where the address is not known.
func judge(c config.Config, p *policy.Policy, r policy.Request, u uri.URI, destination netip.Addr) verdict {
	if literal, err := netip.ParseAddr(r.Host); err == nil && !destination.IsValid() {
		destination = literal
	}
	if c.Access.ProxyUsers == "" {
		r.User = "" // nobody is asked to log in
	}
	v := verdict{
		Client: r.Client, User: r.User, Method: r.Method, Scheme: r.Scheme, Host: r.Host, Port: r.Port,
		Result: resultAllowed, Policy: p.Mode().String(),
	}
	if destination.IsValid() {
		v.Destination = destination.String()
	}
	if v.checkClient(c.Access, r) {
		v.checkRules(p, r, destination)
	}
	if v.Result != resultDenied {
		switch dials := v.checkGateway(c, u); {
		case dials:
			v.checkGuard(c.Access, netip.AddrPortFrom(destination, r.Port))
		case v.Result == resultDepends:
			v.Result, v.Setting = resultAllowed, "" // there is no address
		}
	}
	if r.Scheme == "https" {
		v.note("note", "clients ask a proxy for https by CONNECT: test CONNECT %s:%d too", r.Host, r.Port)
	}
	return v
}

func (v *verdict) note(stage, format string, args ...any) {
	v.Steps = append(v.Steps, accessStep{stage, fmt.Sprintf(format, args...)})
}

// deny makes a setting the one that refuses the request.
func (v *verdict) deny(setting string) { v.Result, v.Setting = resultDenied, setting }

// checkClient reports whether the client may use the proxy at all.
func (v *verdict) checkClient(access config.Access, r policy.Request) bool {
	const clients, users = "access.proxy_clients", "access.proxy_users"
	client := r.Client.Unmap().WithZone("")
	i := slices.IndexFunc(access.ProxyClients, func(p netip.Prefix) bool { return message.Contains([]netip.Prefix{p}, client) })
	if i < 0 {
		v.note("client", "%s may not use the proxy (%s)", r.Client, clients)
		v.deny(clients)
		return false
	}
	v.note("client", "%s may use the proxy (%s: %s)", r.Client, clients, access.ProxyClients[i])
	switch {
	case access.ProxyUsers == "":
		v.note("user", "nobody logs in (%s is empty)", users)
	case r.User == "":
		v.note("user", "the client must log in (%s): --user", users)
		v.deny(users)
		return false
	default:
		v.note("user", "%s, if the password is right (%s)", r.User, users)
	}
	return true
}

// checkRules lists the rules that decide, or may decide.
func (v *verdict) checkRules(p *policy.Policy, r policy.Request, destination netip.Addr) {
	if p.Mode() == policy.Open {
		v.note("rules", "they are not looked at (proxy.policy is open)")
		return
	}
	d := p.Decide(r)
	if destination.IsValid() {
		d = p.DecideFor(r, destination)
	}
	for _, match := range p.Explain(r) {
		decides := d.Final && match.Rule == d.Rule
		v.note("rule", "%s", describeMatch(match, destination, decides))
		if decides {
			break
		}
	}
	if d.Final && d.Rule == "" {
		v.note("rule", "no other rule holds: the request is allowed")
	}
	v.Rule, v.WouldDeny = d.Rule, d.Deny && p.Mode() == policy.Report
	switch {
	case !d.Final && p.Mode() == policy.Report:
		v.note("rule", "if proxy.policy were enforce, it would depend on the address that is dialled: --destination")
	case !d.Final:
		v.Result, v.Setting = resultDepends, "proxy.rules"
	case p.Err(d) != nil:
		v.deny("proxy.rules")
	}
}

// describeMatch says of a rule what it does with a request, and why.
func describeMatch(match policy.Match, destination netip.Addr, decides bool) string {
	var because []string
	for _, condition := range match.Because {
		because = append(because, condition.String())
	}
	text := fmt.Sprintf("%q allows", match.Rule)
	if match.Deny {
		text = fmt.Sprintf("%q denies", match.Rule)
	}
	var ranges []string
	for _, prefix := range match.Destinations {
		ranges = append(ranges, prefix.String())
	}
	switch joined := strings.Join(ranges, ", "); {
	case joined == "" && len(because) == 0:
		because = append(because, "it has no conditions")
	case joined == "":
	case destination.IsValid() && decides:
		because = append(because, "destinations "+joined)
	case destination.IsValid():
		return fmt.Sprintf("%q does not hold: %s is not in %s", match.Rule, destination, joined)
	default:
		text += " if the address that is dialled is in " + joined
	}
	if len(because) == 0 {
		return text
	}
	return text + ": " + strings.Join(because, ", ")
}

// checkGuard checks the address that is dialled.
func (v *verdict) checkGuard(access config.Access, dialled netip.AddrPort) {
	const setting = "access.allow_destinations"
	if !dialled.Addr().IsValid() {
		v.note("guard", "it checks the address that is dialled (%s)", setting)
		return
	}
	if err := netguard.New(0, access.AllowDestinations...).Check(dialled); err != nil {
		v.note("guard", "%v (%s)", err, setting)
		v.deny(setting)
		return
	}
	v.note("guard", "%s may be dialled (%s)", dialled, setting)
}

// summary is a verdict in a line.
func (v verdict) summary() string {
	by := v.Setting
	if v.Rule != "" && v.Setting == "proxy.rules" {
		by = fmt.Sprintf("rule %q", v.Rule)
	}
	switch {
	case v.Result == resultDenied && by == "":
		return resultDenied
	case v.Result == resultDenied:
		return "denied by " + by
	case v.Result == resultDepends:
		return "depends on the address that is dialled: --destination"
	case v.WouldDeny:
		return fmt.Sprintf("allowed, as proxy.policy is report: rule %q would deny it", v.Rule)
	case v.Rule != "":
		return fmt.Sprintf("allowed by rule %q", v.Rule)
	}
	return resultAllowed
}
