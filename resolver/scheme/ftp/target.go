package ftp

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// login are the credentials of a login.
type login struct {
	user, password string
	// hasPassword is true if there is a password, which may be ""; anonymous is true for an anonymous login.
	hasPassword, anonymous bool
}

// secret returns the password if it must not be shown. A very short one is "": it occurs in too many texts, so
// that masking would reveal it.
func (l login) secret() string {
	const least = 4
	if l.anonymous || len(l.password) < least {
		return ""
	}
	return l.password
}

// key identifies interchangeable connections.
type key struct {
	address string // host and port
	login   login
}

// target is the parsed target of a request.
type target struct {
	key
	uri.FTP
	uri     uri.URI // without a password
	host    string  // without brackets
	private bool    // the response must not be shared with other clients
	prompts bool    // a user may be prompted for a password
}

// maxDirs is the maximum number of directories of a path.
const maxDirs = 100

// newTarget returns the target of a request. The error is a *uri.ParseError for a URI that cannot be converted
// to commands.
func (h *Handler) newTarget(r scheme.Request) (target, error) {
	u := r.URI
	t := target{prompts: h.config.AllowLogin, uri: u.WithoutFragment().WithoutPassword().Normalize()}
	var err error
	// The normal form is used because caches and links use it. It has no "..", which a server may resolve
	// differently after a symbolic link.
	if t.FTP, err = t.uri.FTP(); err != nil {
		return target{}, err
	}
	if len(t.Dirs) > maxDirs {
		return target{}, &uri.ParseError{Input: t.uri.String(), Rule: uri.Rule{
			Code: "ftp_depth", Name: "fpath", Section: "RFC 1738 section 3.2.2",
			Requirement: "each segment is a command, of which a URL may cause at most {{.Value}}",
		}.With(strconv.Itoa(maxDirs))}
	}
	host, _ := t.uri.Host()
	t.host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	port, _ := u.Port()
	if port == "" {
		port = u.DefaultPort()
	}
	t.address = net.JoinHostPort(t.host, port)
	userinfo, hasUser := u.Userinfo()
	if t.login, err = h.newLogin(r, userinfo, hasUser); err != nil {
		return target{}, err
	}
	t.private = !t.login.anonymous || hasUser || len(r.Fields.Values("Authorization")) > 0
	for _, argument := range append([]string{t.Name, t.login.user, t.login.password}, t.Dirs...) {
		if strings.ContainsAny(argument, "\r\n\x00") {
			return target{}, &uri.ParseError{Input: t.uri.String(), Rule: uri.Rule{
				Code: "ftp_argument", Name: "string", Section: "RFC 959 section 5.3.2",
				Requirement: "an argument of an FTP command contains no carriage return, line feed or NUL",
			}}
		}
	}
	return t, nil
}

// newLogin returns the credentials: those of the URI, else those of the request, else anonymous, as RFC 1738
// section 3.2.1 requires.
func (h *Handler) newLogin(r scheme.Request, userinfo string, hasUser bool) (login, error) {
	anonymous := login{user: "anonymous", password: h.config.Anonymous, hasPassword: true, anonymous: true}
	rawUser, rawPassword, hasPassword := strings.Cut(userinfo, ":")
	user, userErr := url.PathUnescape(rawUser)
	password, passwordErr := url.PathUnescape(rawPassword)
	if userErr != nil || passwordErr != nil {
		return login{}, fmt.Errorf("%w: invalid percent-encoding in the user or password", scheme.ErrDisabled)
	}
	if hasUser && !hasPassword && (uri.EqualFold(user, "anonymous") || uri.EqualFold(user, "ftp")) {
		return anonymous, nil
	}
	if !h.config.AllowLogin {
		if hasUser {
			return login{}, fmt.Errorf("FTP login: %w", scheme.ErrDisabled)
		}
		return anonymous, nil
	}
	if hasPassword {
		return login{user: user, password: password, hasPassword: true}, nil
	}
	given, ok := basic(r.Fields.Get("Authorization"))
	switch {
	case ok && (!hasUser || given.user == user):
		return given, nil
	case hasUser:
		return login{user: user}, nil
	default:
		return anonymous, nil
	}
}

// basic parses a field value with Basic credentials: RFC 7617.
func basic(field string) (login, bool) {
	name, encoded, _ := strings.Cut(field, " ")
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil || !uri.EqualFold(name, "basic") {
		return login{}, false
	}
	user, password, ok := strings.Cut(string(text), ":")
	return login{user: user, password: password, hasPassword: true}, ok
}

// directory returns the URI of the target as a directory: with a trailing slash, and without type.
func (t target) directory() string {
	text := t.uri.String()
	if i := strings.LastIndexByte(text, ';'); t.Type != 0 && i >= 0 {
		text = text[:i]
	}
	if !strings.HasSuffix(text, "/") {
		text += "/"
	}
	return text
}

// path returns the directories of the target, followed by its name.
func (t target) path() []string {
	if t.Name == "" {
		return t.Dirs
	}
	return append(t.Dirs[:len(t.Dirs):len(t.Dirs)], t.Name)
}

// title returns the path as text.
func (t target) title() string {
	path := strings.Join(t.path(), "/")
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return scheme.DecodeText(path)
}

// parent returns a link to the parent directory; nil for the home directory of the login, and for a root.
func (t target) parent() *scheme.Link {
	path := t.path()
	if len(path) == 0 {
		return nil
	}
	last := strings.TrimRight(path[len(path)-1], "/")
	path = path[:len(path)-1]
	if i := strings.LastIndexByte(last, '/'); i == 0 { // such as "/etc", spelled %2Fetc in a URI
		path = append(path[:len(path):len(path)], "/")
	} else if i > 0 {
		path = append(path[:len(path):len(path)], last[:i])
	} else if last == "" && len(path) == 0 {
		return nil // of "/", and of an empty first directory, which most servers take for "/"
	}
	authority, _ := t.uri.Authority()
	var location strings.Builder
	location.WriteString("ftp://" + authority + "/")
	for _, name := range path {
		location.WriteString(escape(name) + "/")
	}
	title := strings.Join(path, "/")
	if !strings.HasPrefix(title, "/") {
		title = "/" + title
	}
	return &scheme.Link{Text: scheme.DecodeText(title), URI: location.String()}
}

// escape encodes the bytes of a name as a path segment of an ftp URL.
func escape(name string) string { return url.PathEscape(name) }
