<?php

declare(strict_types=1);

// Composer's autoloader, or the packages of Debian.
if (is_file(__DIR__ . '/../vendor/autoload.php')) {
    require __DIR__ . '/../vendor/autoload.php';
} else {
    require_once 'GuzzleHttp/autoload.php';
    require_once 'Psr/Log/autoload.php';
    spl_autoload_register(static function (string $class): void {
        $file = __DIR__ . '/../src/' . str_replace(['AirtimeService\\', '\\'], ['', '/'], $class) . '.php';
        if (str_starts_with($class, 'AirtimeService\\') && is_file($file)) {
            require $file;
        }
    });
}
