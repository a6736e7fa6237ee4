package testserver

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

// apacheConfig permits several servers side by side: they use no files outside their folder. The paths of
// modules are those of Debian.
const apacheConfig = `ServerRoot %[2]s
DefaultRuntimeDir web
PidFile web/apache.pid
ErrorLog web/error.log
ServerName apache.test
Listen %[1]s
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
LoadModule filter_module /usr/lib/apache2/modules/mod_filter.so
LoadModule deflate_module /usr/lib/apache2/modules/mod_deflate.so
LoadModule headers_module /usr/lib/apache2/modules/mod_headers.so
LoadModule alias_module /usr/lib/apache2/modules/mod_alias.so
LoadModule env_module /usr/lib/apache2/modules/mod_env.so
LoadModule setenvif_module /usr/lib/apache2/modules/mod_setenvif.so
LoadModule ratelimit_module /usr/lib/apache2/modules/mod_ratelimit.so
TypesConfig /dev/null
AddType text/html .html
AddType text/plain .txt
DocumentRoot %[2]s
SetEnvIf Request_URI "^/ready\.txt$" ready
LogFormat "%%m %%U%%q %%>s" test
CustomLog web/access.log test env=!ready
%[3]s
`

// StartApache starts Apache, which serves the files of a folder accessible to every user (OpenFolder), with
// additional lines of configuration. It stops at the end of the test.
func StartApache(t testing.TB, dir string, lines ...string) *WebServer {
	t.Helper()
	return startWebServer(t, dir, webProgram{
		path: Need(t, "apache2"), arguments: []string{"-X", "-f", dir + "/" + webConfigFile},
		config: func(addr netip.AddrPort, dir string) string {
			return fmt.Sprintf(apacheConfig, addr, dir, strings.Join(lines, "\n"))
		},
	})
}
