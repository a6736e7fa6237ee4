package access

import (
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// checkGateway checks a URI of a scheme other than http and https as its gateway does, and reports whether
// an address is dialled for it. The URI is in canonical form; it is the zero value for CONNECT.
func (v *Verdict) checkGateway(t *trial) (dials bool) {
	c, u := t.config, t.ask.Key
	name := u.Scheme()
	info, isKnown := t.gateways.Of(name)
	template := slices.ContainsFunc(c.Gateways.Templates, func(g config.Gateway) bool { return strings.EqualFold(g.Scheme, name) })
	switch {
	case !u.IsValid() || u.IsWeb():
		return true
	case v.Method != http.MethodGet && v.Method != http.MethodHead:
		return v.denyGateway("", "only GET and HEAD are supported for %s", name)
	case template:
		v.note("gateway", "clients are redirected to another one (gateways.templates)")
	case !isKnown:
		return v.denyGateway("gateways.templates", "there is no gateway for %s", name)
	case name == "file":
		v.checkFiles(c.File)
	case info.Local:
		v.note("gateway", "%s is explained: nothing is retrieved", name)
	default:
		return v.checkServer(c, info, u)
	}
	return false
}

// denyGateway denies the request by a setting, "" where none allows it.
func (v *Verdict) denyGateway(setting, format string, args ...any) (dials bool) {
	if setting != "" {
		format += " (" + setting + ")"
	}
	v.note("gateway", format, args...)
	v.deny(setting)
	return false
}

func (v *Verdict) checkFiles(c config.File) {
	const roots = "file.roots"
	if len(c.Roots) == 0 {
		v.denyGateway(roots, "no files are served")
		return
	}
	v.note("gateway", "files below %s are served, where they exist (%s)", strings.Join(c.Roots, ", "), roots)
}

// checkServer checks a URI whose gateway asks a server.
func (v *Verdict) checkServer(c config.Config, info scheme.Info, u uri.URI) (dials bool) {
	name := u.Scheme()
	host, _ := u.Host()
	switch {
	case !info.Enabled:
		return v.denyGateway(info.Setting, "%s is turned off", name)
	case host == "" && len(c.News.Servers) == 0:
		return v.denyGateway("news.servers", "the URL names no server, and there is no other")
	case name == "ftp" && !c.FTP.Login && hasLogin(u):
		return v.denyGateway("ftp.login", "nobody but the user anonymous logs in")
	}
	if err := info.Ports.Check(u); err != nil {
		by := "gateways.allow_ports"
		if withoutDenied := (scheme.Ports{Allow: info.Ports.Allow}); withoutDenied.Check(u) == nil {
			by = "gateways.deny_ports"
		}
		return v.denyGateway(by, "%v", err)
	}
	v.note("gateway", "%s is retrieved, also at this port (%s, gateways.allow_ports, gateways.deny_ports)", name, info.Setting)
	return true
}

// hasLogin reports whether an ftp URL names a user other than anonymous.
func hasLogin(u uri.URI) bool {
	userinfo, ok := u.Userinfo()
	return ok && !strings.EqualFold(userinfo, "anonymous") && !strings.EqualFold(userinfo, "ftp")
}
