vcl 4.1;
backend origin {
    .host = "{{.OriginHost}}";
    .port = "{{.OriginPort}}";
}
sub vcl_recv {
    if (req.url == "{{.Name}}") {
        return (synth(302, "Found"));
    }
}
sub vcl_synth {
    if (resp.status == 302) {
        set resp.http.Location = "{{.Location}}";
        return (deliver);
    }
}
