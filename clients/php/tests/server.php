<?php

// A server whose answers are the bytes of the case that is named. Prints its port, and a line for each request.

declare(strict_types=1);

$listener = stream_socket_server('tcp://127.0.0.1:0');
fwrite(STDOUT, stream_socket_get_name($listener, false) . "\n");
$head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
while ($connection = @stream_socket_accept($listener, 600)) {
    while (($line = fgets($connection)) !== false) {
        $length = 0;
        for ($first = $line; trim((string) $line) !== ''; $line = fgets($connection)) {
            $length = stripos($line, 'content-length:') === 0 ? (int) substr($line, 15) : $length;
        }
        if ($length > 0) {
            stream_get_contents($connection, $length);
        }
        fwrite(STDOUT, $first);
        switch ($argv[1]) {
            case 'drip':
                for (@fwrite($connection, "HTTP/1.1 200 OK\r\nx: "), $i = 0; $i < 1_200 && @fwrite($connection, ' ') === 1; $i++) {
                    usleep(50_000);
                }
                fwrite(STDOUT, $i < 1_200 ? '' : "sent\n");
                break 2;
            case 'pour':
                for (@fwrite($connection, "$head\r\n"), $i = 0; $i < 500 && @fwrite($connection, str_repeat(' ', 100_000)) > 0; $i++) {
                    continue;
                }
                fwrite(STDOUT, "$i\n");
                break 2;
            case 'end':
                break 2;
            case 'redirect':
                fwrite($connection, "HTTP/1.1 307 Elsewhere\r\nlocation: /v1/elsewhere\r\ncontent-length: 0\r\n\r\n");
                break;
            case 'half':
                fwrite($connection, "HTTP/1.1 502 Bad\r\nx-error-code: delivery_failed\r\nx-transaction-reference: DATA_1\r\nx-caller-reference: order-1\r\ncontent-length: 100\r\n\r\n{");
                break 2;
            case 'sell':
                $sold = ['reference' => 'DATA_1', 'status' => 'success', 'amount' => 500, 'description' => '', 'type' => 'data'];
                $sold += ['caller_reference' => 'order-1042', 'phone_number' => '08031234567', 'network' => 'MTN'];
                $body = json_encode(['status' => true, 'data' => ['transaction' => $sold + ['created_at' => '', 'updated_at' => '']]]);
                fwrite($connection, "{$head}content-length: " . strlen($body) . "\r\n\r\n$body");
                break;
            case 'end of a kept connection':
                fwrite($connection, "HTTP/1.1 403 No\r\nx-error-code: permission_denied\r\ncontent-length: 2\r\n\r\n{}");
                fgets($connection) === false ?: fwrite(STDOUT, "POST on a kept connection\n");
                break 2;
        }
    }
    fclose($connection);
}
