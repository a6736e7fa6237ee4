package uri

import "strings"

// Check returns an error unless u is well formed by the rules of its scheme; the parser checks generic syntax
// only. An unknown scheme has no rules. The error is a *ParseError.
func (u URI) Check() error {
	var err error
	switch row := schemes[u.row()]; row.name {
	case "http", "https":
		err = u.checkWeb()
	case "ws", "wss":
		err = u.checkWebSocket()
	case "urn":
		_, err = u.URN()
	case "ftp":
		_, err = u.FTP()
	case "gopher":
		_, err = u.Gopher()
	case "mailto":
		_, err = u.Mailto()
	case "news":
		_, err = u.News()
	case "nntp":
		_, err = u.NNTP()
	case "telnet", "tn3270", "rlogin":
		err = u.checkTelnet()
	case "wais":
		_, err = u.WAIS()
	case "z39.50r", "z39.50s":
		_, err = u.Z3950()
	case "file":
		err = u.checkFile()
	case "prospero":
		_, err = u.Prospero()
	default:
		err = u.checkOther(row)
	}
	return err
}

// checkOther checks a URI of a scheme that has no rules beyond its server.
func (u URI) checkOther(row scheme) error {
	if row.server {
		return u.checkServer()
	}
	return nil
}

// RuleOtherScheme is the error of requesting the parts of another scheme, such as FTP of an http URL.
var RuleOtherScheme = newRule("other_scheme", "scheme", "RFC 1738 section 2.1", "this is a URL of another scheme")

// RuleWebUserinfo rejects userinfo, which serves to make one host look like another.
var RuleWebUserinfo = newRule("web_userinfo", "userinfo", "RFC 9110 section 4.2.4",
	"a user name before the host is an error in http and https")

// checkWeb checks an http or https URL: RFC 9110 section 4.2.
func (u URI) checkWeb() error {
	if _, ok := u.Userinfo(); ok {
		start, _ := u.authorityStart()
		return failure(u.s, start, RuleWebUserinfo)
	}
	return u.checkServer()
}

// checkWebSocket checks a ws or wss URL: RFC 6455 section 3, which is RFC 9110 section 4.2 without fragments.
func (u URI) checkWebSocket() error {
	if _, ok := u.Fragment(); ok {
		return failure(u.s, u.fragStart(), ruleWebSocket)
	}
	return u.checkWeb()
}

var (
	ruleWebSocket = newRule("websocket_fragment", "ws-URI", "RFC 6455 section 3", "a WebSocket URI has no fragment")
	ruleTelnet    = newRule("telnet_path", "telneturl", "RFC 1738 section 5", "only a slash may follow the host")
	ruleFile      = newRule("file_path", "fileurl", "RFC 1738 section 5", "the path of a file URL begins with a slash")
	ruleFileAuth  = newRule("file_authority", "file-auth", "RFC 8089 section 2", "a file URL has neither user nor port")
)

// checkTelnet allows fragments, since they are not part of a scheme's syntax (RFC 3986 section 4.3).
func (u URI) checkTelnet() error {
	if err := u.checkServer(); err != nil {
		return err
	}
	if rest := strings.TrimPrefix(u.s[u.pathStart():u.fragStart()], "/"); rest != "" {
		return failure(u.s, u.fragStart()-len(rest), ruleTelnet)
	}
	return nil
}

// checkFile checks a file URL: RFC 8089 section 2, which allows "file:/x" as well as "file:///x".
func (u URI) checkFile() error {
	if text, _ := u.Authority(); text != "" {
		start, _ := u.authorityStart()
		switch a := splitAuthority(text); {
		case a.start > 0:
			return failure(u.s, start, ruleFileAuth)
		case a.end < len(text):
			return failure(u.s, start+a.end, ruleFileAuth)
		}
		if err := u.checkServer(); err != nil {
			return err
		}
	}
	if path := u.Path(); path == "" || path[0] != '/' {
		return failure(u.s, u.pathStart(), ruleFile)
	}
	return nil
}
