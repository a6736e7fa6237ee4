module github.com/urnd/urnd

go 1.26.0
