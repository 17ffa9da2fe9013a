<?php

declare(strict_types=1);

namespace AirtimeService\Laravel;

use AirtimeService\Client;
use Illuminate\Contracts\Config\Repository;
use Illuminate\Contracts\Container\Container;
use Illuminate\Support\ServiceProvider;
use Psr\Log\LoggerInterface;

/** `php artisan vendor:publish --tag=airtime-config` copies the configuration into the app. */
final class AirtimeServiceProvider extends ServiceProvider
{
    private const CONFIG = __DIR__ . '/../../config/airtime.php';

    public function register(): void
    {
        $this->mergeConfigFrom(self::CONFIG, 'airtime');
        $this->app->singleton(Client::class, static function (Container $app): Client {
            /** @var LoggerInterface $logger */
            $logger = $app->make(LoggerInterface::class);
            $settings = self::settings($app);
            return new Client($settings['base_url'], $settings['api_key'], $settings['timeout'], logger: $logger);
        });
        $this->app->when(VerifyWebhook::class)->needs('$secret')->give(
            static fn (Container $app): string => self::settings($app)['webhook_secret'],
        );
    }

    /** @return array{base_url: string, api_key: string, timeout: float, webhook_secret: string} */
    private static function settings(Container $app): array
    {
        /** @var Repository $config */
        $config = $app->make(Repository::class);
        /** @var array{base_url: string, api_key: string, timeout: float, webhook_secret: string} */
        return $config->get('airtime');
    }

    public function boot(): void
    {
        $this->publishes([self::CONFIG => $this->app->make('path.config') . '/airtime.php'], 'airtime-config');
    }
}
