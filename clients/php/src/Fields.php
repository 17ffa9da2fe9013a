<?php

declare(strict_types=1);

namespace AirtimeService;

/** The fields of a JSON object. Each method throws an \UnexpectedValueException if a field is not what the name says. */
final class Fields
{
    /** @param array<mixed> $values */
    private function __construct(private readonly array $values)
    {
    }

    public static function of(mixed $value): self
    {
        return is_array($value) && ($value === [] || !array_is_list($value)) ? new self($value) : throw new \UnexpectedValueException('It is no object');
    }

    public static function parse(string $json): self
    {
        return self::of(json_decode($json, true));
    }

    public function has(string $name): bool
    {
        return isset($this->values[$name]);
    }

    public function text(string $name): string
    {
        $value = $this->values[$name] ?? null;
        return is_string($value) ? $value : throw self::unexpected($name);
    }

    public function number(string $name): float
    {
        $value = $this->values[$name] ?? null;
        return is_int($value) || is_float($value) ? (float) $value : throw self::unexpected($name);
    }

    public function integer(string $name): int
    {
        $value = $this->values[$name] ?? null;
        return is_int($value) ? $value : throw self::unexpected($name);
    }

    public function boolean(string $name): bool
    {
        $value = $this->values[$name] ?? null;
        return is_bool($value) ? $value : throw self::unexpected($name);
    }

    public function object(string $name): self
    {
        return self::of($this->values[$name] ?? null);
    }

    /** @return list<self> */
    public function list(string $name): array
    {
        $value = $this->values[$name] ?? null;
        return is_array($value) ? array_map(self::of(...), array_values($value)) : throw self::unexpected($name);
    }

    /**
     * The first that can be read.
     *
     * @template T of object
     * @param callable(self): T ...$reads
     * @return T
     */
    public function either(string $name, callable ...$reads): object
    {
        foreach ($reads as $read) {
            try {
                return $read($this->object($name));
            } catch (\UnexpectedValueException) {
                continue;
            }
        }
        throw self::unexpected($name);
    }

    /**
     * @param list<string> $names
     * @return array<mixed>
     */
    public function without(array $names): array
    {
        return array_diff_key($this->values, array_flip($names));
    }

    /** The value itself may be personal data. */
    private static function unexpected(string $name): \UnexpectedValueException
    {
        return new \UnexpectedValueException("The field $name is not as expected");
    }
}
