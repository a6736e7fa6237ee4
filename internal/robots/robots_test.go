package robots

import (
	"strconv"
	"testing"
)

func TestIsRobot(t *testing.T) {
	for userAgent, want := range map[string]bool{
		"": true,
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0": false,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 " +
			"Safari/537.36 Edg/138.0.0.0": false,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Version/18.5 Mobile/15E148 Safari/604.1": false,
		"Mozilla/5.0 (Linux; Android 9; CUBOT_X18_Plus) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/88.0.4324.152 " +
			"Mobile Safari/537.36": false,
		"Lynx/2.9.2 libwww-FM/2.14 SSL-MM/1.4.1 OpenSSL/3.5.0":                     false,
		"w3m/0.5.3+git20230121":                                                    false,
		"Opera/9.80 (Windows NT 6.1) Presto/2.12.388 Version/12.18":                false,
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)": true,
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; " +
			"+http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76": true,
		"Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)":                           true,
		"Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)":                         true,
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/138.0.0.0 Safari/537.36": true,
		"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)":                                     true,
		"curl/8.14.1":               true,
		"Wget/1.25.0":               true,
		"python-requests/2.32.4":    true,
		"Go-http-client/1.1":        true,
		"Java/21.0.7":               true,
		"LinkChecker/10.5":          true,
		"Mozilla/4.0 (CMS Crawler)": true,
	} {
		if got := IsRobot(userAgent); got != want {
			t.Errorf("%q is a robot: %t, want %t", userAgent, got, want)
		}
	}
}

// TestVerdicts checks that the cache is bounded, and that its results equal those of IsRobot.
func TestVerdicts(t *testing.T) {
	var v Cache
	for range 2 {
		for i := range 2 * maxVerdicts {
			person, robot := "Mozilla/5.0 Firefox/"+strconv.Itoa(i), "curl/"+strconv.Itoa(i)
			if v.IsRobot(person) || !v.IsRobot(robot) {
				t.Fatalf("%q or %q is not what it is", person, robot)
			}
		}
	}
	if n := len(*v.known.Load()); n != maxVerdicts {
		t.Errorf("%d are remembered, want %d", n, maxVerdicts)
	}
}

func BenchmarkVerdicts(b *testing.B) {
	const userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	var v Cache
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			IsRobot(userAgent)
		}
	})
	b.Run("known", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			v.IsRobot(userAgent)
		}
	})
}
