package testserver

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

// nginxConfig lets many servers run side by side: they use no files outside their folder. Without
// a master process there is none that outlives the test.
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

// StartNginx starts nginx, which serves the files of a folder that every user can enter
// (OpenFolder). lines are for the block of the server in its configuration. It stops at the end of the
// test.
func StartNginx(t testing.TB, dir string, lines ...string) *WebServer {
	t.Helper()
	return StartNginxProxy(t, dir, "", lines...)
}

// NginxListen stands for the address of the server in the text that StartNginxProxy is given.
const NginxListen = "LISTEN_ADDRESS"

// StartNginxProxy is StartNginx with text for the block around that of the server, such as upstreams and further servers.
func StartNginxProxy(t testing.TB, dir, http string, lines ...string) *WebServer {
	t.Helper()
	return startWebServer(t, dir, nginxProgram(Need(t, "nginx"), dir, http, lines))
}

func nginxProgram(path, dir, http string, lines []string) webProgram {
	return webProgram{
		path: path, arguments: []string{"-p", dir, "-c", webConfigFile, "-e", "stderr"},
		config: func(addr netip.AddrPort, dir string) string {
			return fmt.Sprintf(nginxConfig, strings.ReplaceAll(http, NginxListen, addr.String()), addr, dir, strings.Join(lines, "\n"))
		},
	}
}
