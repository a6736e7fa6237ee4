//go:build e2e

package dialogs

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// serveEcho echoes data until it receives FIN.
func serveEcho(conn net.Conn) { _, _ = io.Copy(conn, conn) }

// serveTHTTP handles THTTP requests (RFC 2169) according to the prefix of the NSS.
func serveTHTTP(conn net.Conn) {
	for reader := bufio.NewReader(conn); ; {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		service, name, _ := strings.Cut(strings.TrimPrefix(request.RequestURI, "/uri-res/"), "?")
		nss := name[strings.LastIndexByte(name, ':')+1:]
		write := func(status, fields, body string) {
			fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n%s", status, len(body), fields, body)
		}
		switch {
		case strings.HasPrefix(nss, "none"):
			write("404 Not Found", "Content-Type: text/plain\r\n", "no such name\n")
		case strings.HasPrefix(nss, "gone"):
			write("410 Gone", "Content-Type: text/plain\r\n", "it was withdrawn\n")
		case strings.HasPrefix(nss, "error"):
			write("500 Internal Server Error", "", "")
		case strings.HasPrefix(nss, "cut"):
			fmt.Fprint(conn, "HTTP/1.1 303 See Other\r\nLocation: https://cut.exa")
			return
		case service == "N2Ls":
			write("200 OK", "Content-Type: text/uri-list\r\nCache-Control: max-age=3600\r\n",
				"https://held.example/"+nss+"\r\nhttps://mirror.example/"+nss+"\r\n")
		case service == "N2C":
			write("200 OK", "Content-Type: text/plain\r\nCache-Control: max-age=3600\r\n", "title: "+nss+"\n")
		default:
			write("303 See Other", "Location: https://held.example/"+nss+"\r\nCache-Control: max-age=3600\r\n", "")
		}
	}
}

// serveGopher responds to one selector with a menu or a text.
func serveGopher(conn net.Conn) {
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return
	}
	switch selector := strings.TrimRight(line, "\r\n"); selector {
	case "":
		fmt.Fprintf(conn,
			"iWelcome\t\terror.host\t1\r\n0A text\t/text\tgopher.example\t7070\r\n1A "+
				"menu\t/menu\tgopher.example\t7070\r\n.\r\n")
	case "/text":
		fmt.Fprintf(conn, "A text of two lines.\r\nThis is the second.\r\n.\r\n")
	case "/binary":
		_, _ = conn.Write([]byte{0, 1, 2, 3, 0xfe, 0xff})
	default:
		fmt.Fprintf(conn, "3'%s' does not exist\t\terror.host\t1\r\n.\r\n", selector)
	}
}
