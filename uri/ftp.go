package uri

import "strings"

// FTP is the part of an "ftp" URL after its authority: RFC 1738 section 3.2.2.
type FTP struct {
	Dirs []string // arguments of CWD, decoded; "" is a CWD without an argument
	Name string   // argument of RETR or NLST, decoded
	Type byte     // 'a', 'i' or 'd'; 0 if it is absent
}

var (
	ruleFTPType = newRule("ftp_type", "ftptype", "RFC 1738 section 5",
		`";type=" is followed by a, i or d, and ends the path`)
	ruleFTPSegment = newRule("ftp_semicolon", "fsegment", "RFC 1738 section 5",
		"a semicolon is allowed in an ftp URL only before type")
	ruleFTPString = newRule("ftp_line_end", "string", "RFC 959 section 5.3.2",
		"an argument of an FTP command contains no carriage return or line feed")
)

// ftpType is the normal form of the name of the type parameter.
const ftpType = ";type="

// FTP returns the parts of an "ftp" URL. The error is a *ParseError.
func (u URI) FTP() (FTP, error) {
	if !u.hasScheme("ftp") {
		return FTP{}, failure(u.s, 0, RuleOtherScheme)
	}
	if err := u.checkServer(); err != nil {
		return FTP{}, err
	}
	path, at, err := u.pathText()
	if err != nil {
		return FTP{}, err
	}
	start, _ := u.authorityStart()
	if i := indexEncoded(u.s[start:u.fragStart()], isLineEnd); i >= 0 {
		return FTP{}, failure(u.s, start+i, ruleFTPString)
	}
	var f FTP
	if i := strings.IndexByte(path, ';'); i >= 0 {
		parameter := path[i:]
		if len(parameter) < len(ftpType) || !EqualFold(parameter[:len(ftpType)], ftpType) {
			return FTP{}, failure(u.s, at+i, ruleFTPSegment)
		}
		if len(parameter) != len(ftpType)+1 || strings.IndexByte("aid", Lower(parameter[len(ftpType)])) < 0 {
			return FTP{}, failure(u.s, at+i+len(ftpType), ruleFTPType)
		}
		f.Type = Lower(parameter[len(ftpType)])
		path = path[:i]
	}
	if path == "" {
		return f, nil
	}
	segments := strings.Split(path[1:], "/")
	for _, segment := range segments[:len(segments)-1] {
		f.Dirs = append(f.Dirs, decode(segment))
	}
	f.Name = decode(segments[len(segments)-1])
	return f, nil
}

// ftpForm converts the type parameter at the end of a path to lower case.
func ftpForm(path []byte) {
	i := len(path) - len(ftpType) - 1
	if i < 0 || !EqualFold(string(path[i:len(path)-1]), ftpType) {
		return
	}
	for ; i < len(path); i++ {
		path[i] = Lower(path[i])
	}
}
