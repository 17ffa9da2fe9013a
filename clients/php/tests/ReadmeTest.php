<?php

declare(strict_types=1);

namespace AirtimeService\Tests;

use PHPUnit\Framework\TestCase;

/** Goal: what the README shows runs. Method: it is taken out, and the first snippet buys from a server. */
final class ReadmeTest extends TestCase
{
    /** @return list<string> */
    private static function snippets(): array
    {
        preg_match_all('/```php\n(.*?)```/s', file_get_contents(__DIR__ . '/../README.md'), $matches);
        return $matches[1];
    }

    /** @return array{string, int} */
    private static function php(string $code, array $environment = []): array
    {
        $php = proc_open([PHP_BINARY, ...($environment === [] ? ['-l'] : [])], [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes, null, $environment + getenv());
        fwrite($pipes[0], $code);
        fclose($pipes[0]);
        return [stream_get_contents($pipes[1]) . stream_get_contents($pipes[2]), proc_close($php)];
    }

    public function testEverySnippetIsPhp(): void
    {
        self::assertGreaterThan(4, count(self::snippets()));
        foreach (self::snippets() as $snippet) {
            [$output, $exit] = self::php(str_starts_with($snippet, '<?php') ? $snippet : "<?php\n$snippet");
            self::assertSame(0, $exit, $output);
        }
    }

    public function testTheFirstSnippetBuys(): void
    {
        $server = proc_open([PHP_BINARY, __DIR__ . '/server.php', 'sell'], [1 => ['pipe', 'w']], $pipes);
        $bootstrap = __DIR__ . '/bootstrap.php';
        $replaced = ["'vendor/autoload.php'" => "'$bootstrap'", '127.0.0.1:4010' => trim((string) fgets($pipes[1]))];
        [$output] = self::php(strtr(self::snippets()[0], $replaced), ['AIRTIME_API_KEY' => 'live_key']);
        proc_terminate($server, SIGKILL);
        proc_close($server);
        self::assertSame("DATA_1 success 500\nsuccess\n", $output);
    }
}
