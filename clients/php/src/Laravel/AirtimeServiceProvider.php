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
            $config = $app->make(Repository::class);
            $settings = [$config->get('airtime.base_url'), $config->get('airtime.api_key'), $config->get('airtime.timeout')];
            return new Client(...$settings, logger: $app->make(LoggerInterface::class));
        });
        $this->app->when(VerifyWebhook::class)->needs('$secret')->give(
            static fn (Container $app): mixed => $app->make(Repository::class)->get('airtime.webhook_secret'),
        );
    }

    public function boot(): void
    {
        $this->publishes([self::CONFIG => $this->app->make('path.config') . '/airtime.php'], 'airtime-config');
    }
}
