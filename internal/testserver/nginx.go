package testserver

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

// nginxConfig permits several servers side by side: they use no files outside their folder. Without a master
// process, no process outlives the test.
const nginxConfig = `daemon off;
master_process off;
pid web/nginx.pid;
error_log stderr;
events {}
http {
	types { text/html html; text/plain txt; }
	default_type application/octet-stream;
	client_body_temp_path web/body;
	proxy_temp_path web/proxy;
	fastcgi_temp_path web/fastcgi;
	uwsgi_temp_path web/uwsgi;
	scgi_temp_path web/scgi;
	log_format test "$request_method $request_uri $status";
	access_log web/access.log test;
%s
	server {
		listen %s default_server;
		root %s;
		location = /ready.txt { access_log off; }
%s
	}
}
`

// StartNginx starts nginx, which serves the files of a folder accessible to every user (OpenFolder). lines are
// added to the server block of its configuration. It stops at the end of the test.
func StartNginx(t testing.TB, dir string, lines ...string) *WebServer {
	t.Helper()
	return StartNginxProxy(t, dir, "", lines...)
}

// NginxListen is the placeholder for the listening address in the text passed to StartNginxProxy.
const NginxListen = "LISTEN_ADDRESS"

// StartNginxProxy is like StartNginx with additional text for the http block, such as upstreams and further
// servers.
func StartNginxProxy(t testing.TB, dir, http string, lines ...string) *WebServer {
	t.Helper()
	return startWebServer(t, dir, nginxProgram(Need(t, "nginx"), dir, http, lines))
}

func nginxProgram(path, dir, http string, lines []string) webProgram {
	return webProgram{
		path: path, arguments: []string{"-p", dir, "-c", webConfigFile, "-e", "stderr"},
		config: func(addr netip.AddrPort, dir string) string {
			return fmt.Sprintf(nginxConfig, strings.ReplaceAll(http, NginxListen, addr.String()), addr, dir,
				strings.Join(lines, "\n"))
		},
	}
}
