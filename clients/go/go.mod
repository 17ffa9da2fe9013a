module airtime

go 1.25
